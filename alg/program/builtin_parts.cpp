#include "alg/program/builtin_parts.h"

#include <fmt/format.h>

#include <numeric>

namespace espalier {

ProgramSignature signature_for(const BuiltinRequest& request, const char* name,
                               CollectiveOp collective, std::uint32_t chunks, bool in_place) {
  ProgramSignature signature;
  signature.name = name;
  signature.collective = collective;
  signature.ranks = request.ranks;
  signature.chunks = chunks;
  signature.in_place = in_place;
  signature.protocol = request.protocol;
  return signature;
}

std::vector<std::uint32_t> all_ranks(const BuiltinRequest& request) {
  std::vector<std::uint32_t> ranks(request.ranks);
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

void write_ring_reduce_scatter(ChunkTracer& tracer, const RingRuns& runs) {
  const auto size = static_cast<std::uint32_t>(runs.ranks.size());
  for (std::uint32_t r = 0; r < size; ++r) {
    const std::uint32_t index = runs.offset + r * runs.count;
    const Directives directives{runs.first_channel + r % runs.channels};
    ChunkRef sum = tracer.chunk(runs.ranks[(r + 1) % size], runs.buffer, index, runs.count);
    for (std::uint32_t step = 1; step < size; ++step) {
      const std::uint32_t next = runs.ranks[(r + 1 + step) % size];
      sum = tracer.chunk(next, runs.buffer, index, runs.count).reduce(sum, directives);
    }
  }
}

void write_ring_all_gather(ChunkTracer& tracer, const RingRuns& runs) {
  const auto size = static_cast<std::uint32_t>(runs.ranks.size());
  for (std::uint32_t r = 0; r < size; ++r) {
    const std::uint32_t index = runs.offset + r * runs.count;
    const Directives directives{runs.first_channel + r % runs.channels};
    ChunkRef chunk = tracer.chunk(runs.ranks[r], runs.buffer, index, runs.count);
    for (std::uint32_t step = 1; step < size; ++step) {
      chunk = chunk.copy(runs.ranks[(r + step) % size], runs.buffer, index, directives);
    }
  }
}

std::string unsuited_sizes(const BuiltinRequest& request) {
  constexpr std::uint32_t kMostChannels = 32;  // as many as NCCL has
  if (request.ranks < 2) return "needs at least two ranks";
  if (request.ranks > kMostBuiltinRanks) {
    return fmt::format("is made for at most {} ranks, not for {}", kMostBuiltinRanks,
                       request.ranks);
  }
  if (request.instances == 0) return "needs at least one instance";
  if (request.instances > kMostChannels) {
    return fmt::format("runs as at most {} instances, not as {}", kMostChannels, request.instances);
  }
  if (request.channels == 0) return "needs at least one channel";
  return {};
}

std::string unsuited_ring(const BuiltinRequest& request) {
  const std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if (request.channels <= request.ranks) return {};
  return fmt::format("spreads its {} chunks over channels, and {} are more", request.ranks,
                     request.channels);
}

std::string unsuited_power_of_two(const BuiltinRequest& request) {
  const std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if ((request.ranks & (request.ranks - 1)) == 0) return {};
  return fmt::format("needs a power of two of ranks, not {}", request.ranks);
}

std::string unsuited_servers(const BuiltinRequest& request) {
  const std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if (request.ranks_per_server < 2) return "needs at least two ranks per server";
  if (request.ranks % request.ranks_per_server != 0) {
    return fmt::format("needs servers of equal size: {} ranks are no multiple of {}", request.ranks,
                       request.ranks_per_server);
  }
  if (request.ranks == request.ranks_per_server) return "needs at least two servers";
  return {};
}

}  // namespace espalier
