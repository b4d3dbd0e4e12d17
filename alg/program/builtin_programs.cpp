#include "alg/program/builtin_programs.h"

#include <fmt/format.h>

#include <numeric>

#include "alg/program/builtin_parts.h"
#include "alg/program/grid_lines.h"

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
  constexpr std::uint32_t kMostChannels = 32;  // NCCL's limit
  if (request.ranks < 2) return "needs at least two ranks";
  if (request.ranks > kMostBuiltinRanks) {
    return fmt::format("runs on at most {} ranks; found {} ranks", kMostBuiltinRanks,
                       request.ranks);
  }
  if (request.instances == 0) return "needs at least one instance";
  if (request.instances > kMostChannels) {
    return fmt::format("runs as at most {} instances; found {}", kMostChannels, request.instances);
  }
  if (request.channels == 0) return "needs at least one channel";
  return {};
}

std::string unsuited_ring(const BuiltinRequest& request) {
  std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if (request.channels <= request.ranks) return {};
  return fmt::format("spreads its {} chunks over at most as many channels; found {} channels",
                     request.ranks, request.channels);
}

std::string unsuited_power_of_two(const BuiltinRequest& request) {
  std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if ((request.ranks & (request.ranks - 1)) == 0) return {};
  return fmt::format("needs a power of two of ranks; found {}", request.ranks);
}

namespace {

std::string unsuited_server_size(const BuiltinRequest& request) {
  std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if (request.ranks_per_server < 2) {
    return "needs at least two ranks per server: set collective.program.ranks_per_server";
  }
  if (request.ranks % request.ranks_per_server != 0) {
    return fmt::format(
        "needs servers of equal size, but {} ranks are not a multiple of {} ranks per server",
        request.ranks, request.ranks_per_server);
  }
  return {};
}

}  // namespace

std::string unsuited_servers(const BuiltinRequest& request) {
  std::string size = unsuited_server_size(request);
  if (!size.empty()) return size;
  if (request.ranks == request.ranks_per_server) return "needs at least two servers";
  return {};
}

namespace {

using Unsuited = std::string (*)(const BuiltinRequest&);
using Build = Program (*)(const BuiltinRequest&);

// All-reduces over the NIs' own messages, without a GPU's protocol.
BuiltinProgram exchange_row(const char* name, const char* summary, Unsuited unsuited, Build build) {
  BuiltinProgram row{name, summary, CollectiveOp::all_reduce, false, false, unsuited, build};
  row.protocol = Protocol::message;
  return row;
}

// Every rank adds everything itself, its own data first.
BuiltinProgram packets_row() {
  BuiltinProgram row{"mscclpp_packets",
                     "MSCCL++, small data: all data to all ranks of a server, sums to the partners "
                     "in other servers",
                     CollectiveOp::all_reduce,
                     true,
                     false,
                     unsuited_server_size,
                     build_mscclpp_packets};
  row.bitwise_identical = false;
  return row;
}

// Programs that choose their segments, and whose nodes add in orders of their own.
BuiltinProgram own_row(const char* name, const char* summary, Unsuited unsuited, Build build) {
  BuiltinProgram row = exchange_row(name, summary, unsuited, build);
  row.uses_segments = true;
  row.bitwise_identical = false;
  return row;
}

}  // namespace

const std::vector<BuiltinProgram>& builtin_programs() {
  static const std::vector<BuiltinProgram> programs{
      {"gc3_ring", "one logical ring, its chunks spread over channels", CollectiveOp::all_reduce,
       false, true, unsuited_ring, build_ring},
      {"gc3_ring_rotated",
       "one ring for each channel, each shifted by one rank within every server to use all NICs",
       CollectiveOp::all_reduce, true, true, unsuited_servers, build_ring_rotated},
      {"gc3_allpairs",
       "two steps: every rank receives and sums its chunk from all ranks and sends the sum to all",
       CollectiveOp::all_reduce, false, false, unsuited_sizes, build_allpairs},
      {"gc3_hierarchical", "rings inside servers and across them, in one program",
       CollectiveOp::all_reduce, true, false, unsuited_servers, build_hierarchical},
      {"gc3_halving_doubling", "recursive vector halving, then doubling", CollectiveOp::all_reduce,
       false, false, unsuited_power_of_two, build_halving_doubling},
      {"gc3_binomial_tree", "reduction to rank 0 and broadcast over a binomial tree",
       CollectiveOp::all_reduce, false, false, unsuited_sizes, build_binomial_tree},
      {"gc3_double_binary_tree", "two trees, each of which carries half of the data",
       CollectiveOp::all_reduce, false, false, unsuited_sizes, build_double_binary_tree},
      {"gc3_reducescatter_ring", "the first half of gc3_ring", CollectiveOp::reduce_scatter, false,
       true, unsuited_ring, build_reducescatter_ring},
      {"gc3_allgather_ring", "the second half of gc3_ring", CollectiveOp::all_gather, false, true,
       unsuited_ring, build_allgather_ring},
      {"gc3_allgather_recursive_doubling",
       "recursive doubling: partners at doubling distances exchange all their data",
       CollectiveOp::all_gather, false, false, unsuited_power_of_two,
       build_allgather_recursive_doubling},
      {"gc3_direct_alltoall", "every rank sends to every other rank", CollectiveOp::all_to_all,
       false, false, unsuited_sizes, build_direct_alltoall},
      {"gc3_twostep_alltoall",
       "each server collects its data for another server before it sends them",
       CollectiveOp::all_to_all, true, false, unsuited_servers, build_twostep_alltoall},
      {"gc3_broadcast_tree", "broadcast from rank 0 over a binomial tree", CollectiveOp::broadcast,
       false, false, unsuited_sizes, build_broadcast_tree},
      {"nccl_ring", "NCCL's rings: one for each channel, so that all NICs are used",
       CollectiveOp::all_reduce, true, true, unsuited_nccl, build_nccl_ring},
      {"nccl_tree", "NCCL's two binary trees over servers, with a chain of ranks in each server",
       CollectiveOp::all_reduce, true, true, unsuited_nccl, build_nccl_tree},
      {"nccl_reducescatter", "the first half of nccl_ring", CollectiveOp::reduce_scatter, true,
       true, unsuited_nccl, build_nccl_reducescatter},
      {"nccl_allgather", "the second half of nccl_ring", CollectiveOp::all_gather, true, true,
       unsuited_nccl, build_nccl_allgather},
      {"nccl_alltoall", "every rank sends to every other rank, and keeps its own part",
       CollectiveOp::custom, true, false, unsuited_nccl, build_nccl_alltoall},
      {"nccl_sendrecv", "every rank sends its buffer to the next rank, the last to the first",
       CollectiveOp::custom, true, false, unsuited_nccl, build_nccl_sendrecv},
      packets_row(),
      own_row("window", "torus, small data: windows grow on both sides, in half a ring's hops",
              unsuited_torus, build_window),
      own_row("rs_window_ag",
              "torus, medium data: a reduce-scatter in one dimension, windows in the others, an "
              "all-gather",
              unsuited_rs_window_ag, build_rs_window_ag),
      own_row("line", "mesh, small data: running sums go both ways along every line", unsuited_mesh,
              build_line),
      exchange_row("recursive_doubling",
                   "partners 1, 2, 4, ... ranks apart exchange all their data",
                   unsuited_power_of_two, build_recursive_doubling),
      exchange_row("swing_latency",
                   "Swing on a torus: partners 1, 1, 3, 5, 11, ... apart exchange all their data",
                   unsuited_swing, build_swing_latency),
      exchange_row("swing_bandwidth",
                   "Swing on a torus: a reduce-scatter and an all-gather among the same partners",
                   unsuited_swing, build_swing_bandwidth),
  };
  return programs;
}

const BuiltinProgram* find_builtin_program(const std::string& name) {
  for (const BuiltinProgram& program : builtin_programs()) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

}  // namespace espalier
