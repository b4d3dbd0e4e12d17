#include "alg/program/builtin_programs.h"

#include <fmt/format.h>

#include "alg/program/builtin_parts.h"
#include "alg/program/compiler.h"
#include "alg/program/grid_lines.h"

namespace espalier {

BuiltinProgram::BuiltinProgram(const char* the_name, const char* the_summary, CollectiveOp op,
                               const std::vector<const char*>& keys,
                               std::string (*is_unsuited)(const BuiltinRequest& request),
                               std::uint32_t (*the_chunks)(const BuiltinRequest& request),
                               void (*writes)(ChunkTracer& tracer, const BuiltinRequest& request))
    : unsuited(is_unsuited), chunks(the_chunks), write(writes) {
  name = the_name;
  summary = the_summary;
  ops = {op};
  fixed_ranks = kProgramRanks;
  for (const char* key : keys) parameters.push_back({key, {}});
  if (parameter(kSegmentsKey) == nullptr) parameters.push_back({kInstancesKey, {}});
}

Program BuiltinProgram::build(const BuiltinRequest& request) const {
  ProgramSignature signature;
  signature.name = name;
  signature.collective = op();
  signature.ranks = request.ranks;
  signature.chunks = chunks(request);
  signature.in_place = op() != CollectiveOp::all_to_all && op() != CollectiveOp::custom;
  signature.protocol = request.protocol;
  if (is_rooted(op())) signature.root = 0;
  if (promises != nullptr) signature.promises = promises(request);
  ChunkTracer tracer(signature);
  {
    const auto instances =
        tracer.parallelize(segments != nullptr ? segments(request) : request.instances);
    write(tracer, request);
  }
  CompileOptions options;
  // Programs of small messages: a local step must not stand behind a receive whose message comes
  // later.
  if (protocol == Protocol::message) options.locals = LocalPlacement::with_data;
  return compile(tracer.finish(), options);
}

namespace {

// Calls visit(place, first chunk, directives) for every sequence of the ring.
template <class Visit>
void for_each_run(const RingRuns& runs, Visit visit) {
  for (std::uint32_t r = 0; r < runs.ranks.size(); ++r) {
    visit(r, runs.offset + (runs.by_rank ? runs.ranks[r] : r) * runs.stride,
          Directives{runs.first_channel + r % runs.channels});
  }
}

}  // namespace

void write_ring_reduce_scatter(ChunkTracer& tracer, const RingRuns& runs) {
  const std::size_t size = runs.ranks.size();
  for_each_run(runs, [&](std::uint32_t r, std::uint32_t index, Directives directives) {
    ChunkRef sum = tracer.chunk(runs.ranks[(r + 1) % size], runs.buffer, index, runs.count);
    for (std::uint32_t step = 1; step < size; ++step) {
      const std::uint32_t next = runs.ranks[(r + 1 + step) % size];
      sum = tracer.chunk(next, runs.buffer, index, runs.count).reduce(sum, directives);
    }
  });
}

void write_ring_all_gather(ChunkTracer& tracer, const RingRuns& runs) {
  const std::size_t size = runs.ranks.size();
  for_each_run(runs, [&](std::uint32_t r, std::uint32_t index, Directives directives) {
    ChunkRef chunk = tracer.chunk(runs.ranks[r], runs.buffer, index, runs.count);
    for (std::uint32_t step = 1; step < size; ++step) {
      chunk = chunk.copy(runs.ranks[(r + step) % size], runs.buffer, index, directives);
    }
  });
}

std::string unsuited_sizes(const BuiltinRequest& request) {
  if (request.ranks <= kMostBuiltinRanks) return unsuited_counts(request);
  return fmt::format("runs on at most {} ranks; found {} ranks", kMostBuiltinRanks, request.ranks);
}

std::string unsuited_counts(const BuiltinRequest& request) {
  constexpr std::uint32_t kMostChannels = 32;  // NCCL's limit
  if (request.ranks < 2) return "needs at least two ranks";
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

using Request = BuiltinRequest;

std::uint32_t one_chunk(const Request& /*request*/) { return 1; }
std::uint32_t per_rank(const Request& request) { return request.ranks; }
std::uint32_t per_channel(const Request& request) { return request.channels; }
std::uint32_t per_rank_and_channel(const Request& request) {
  return request.ranks * request.channels;
}
std::uint32_t per_dimension(const Request& request) {
  return static_cast<std::uint32_t>(long_dimensions(*request.grid).size());
}
std::uint32_t per_direction(const Request& request) { return 2 * per_dimension(request); }
std::uint32_t per_rank_and_direction(const Request& request) {
  return per_direction(request) * request.ranks;
}

}  // namespace

const std::vector<BuiltinProgram>& builtin_programs() {
  using Op = CollectiveOp;
  using Row = BuiltinProgram;
  static const std::vector<Row> programs{
      Row("gc3_ring", "one logical ring, its chunks spread over channels", Op::all_reduce,
          {kChannelsKey}, unsuited_ring, per_rank, write_ring),
      Row("gc3_ring_rotated",
          "one ring for each channel, each shifted by one rank within every server to use all NICs",
          Op::all_reduce, {kServersKey, kChannelsKey}, unsuited_servers, per_rank_and_channel,
          write_ring_rotated),
      Row("gc3_allpairs",
          "two steps: every rank receives and sums its chunk from all ranks and sends the sum to "
          "all",
          Op::all_reduce, {}, unsuited_sizes, per_rank, write_allpairs),
      Row("gc3_hierarchical", "rings inside servers and across them, in one program",
          Op::all_reduce, {kServersKey}, unsuited_servers, per_rank, write_hierarchical),
      Row("gc3_halving_doubling", "recursive vector halving, then doubling", Op::all_reduce, {},
          unsuited_power_of_two, per_rank, write_halving_doubling),
      Row("gc3_binomial_tree", "reduction to rank 0 and broadcast over a binomial tree",
          Op::all_reduce, {}, unsuited_sizes, one_chunk, write_binomial_tree),
      Row(
          "gc3_double_binary_tree", "two trees, each of which carries half of the data",
          Op::all_reduce, {}, unsuited_sizes, [](const Request&) { return 2U; },
          write_double_binary_tree),
      Row("gc3_reducescatter_ring", "the first half of gc3_ring", Op::reduce_scatter,
          {kChannelsKey}, unsuited_ring, per_rank, write_reducescatter_ring),
      Row("gc3_allgather_ring", "the second half of gc3_ring", Op::all_gather, {kChannelsKey},
          unsuited_ring, per_rank, write_allgather_ring),
      Row("gc3_allgather_recursive_doubling",
          "recursive doubling: partners at doubling distances exchange all their data",
          Op::all_gather, {}, unsuited_power_of_two, per_rank, write_allgather_recursive_doubling),
      Row("gc3_direct_alltoall", "every rank sends to every other rank", Op::all_to_all, {},
          unsuited_sizes, per_rank, write_direct_alltoall),
      Row("gc3_twostep_alltoall",
          "each server collects its data for another server before it sends them", Op::all_to_all,
          {kServersKey}, unsuited_servers, per_rank, write_twostep_alltoall),
      Row("gc3_broadcast_tree", "broadcast from rank 0 over a binomial tree", Op::broadcast, {},
          unsuited_sizes, one_chunk, write_broadcast_tree),
      Row("nccl_ring", "NCCL's rings: one for each channel, so that all NICs are used",
          Op::all_reduce, {kServersKey, kChannelsKey}, unsuited_nccl_ring, per_rank_and_channel,
          write_nccl_ring)
          .with(&Row::is_nccl, true),
      Row("nccl_tree", "NCCL's two binary trees over servers, with a chain of ranks in each server",
          Op::all_reduce, {kServersKey, kChannelsKey}, unsuited_nccl, per_channel, write_nccl_tree)
          .with(&Row::is_nccl, true),
      Row("nccl_reducescatter", "the first half of nccl_ring", Op::reduce_scatter,
          {kServersKey, kChannelsKey}, unsuited_nccl_ring, per_rank_and_channel,
          write_nccl_reducescatter)
          .with(&Row::is_nccl, true),
      Row("nccl_allgather", "the second half of nccl_ring", Op::all_gather,
          {kServersKey, kChannelsKey}, unsuited_nccl_ring, per_rank_and_channel,
          write_nccl_allgather)
          .with(&Row::is_nccl, true),
      Row("nccl_alltoall", "every rank sends to every other rank, and keeps its own part",
          Op::custom, {kServersKey}, unsuited_nccl_ring, per_rank, write_nccl_alltoall)
          .with(&Row::promises, nccl_alltoall_promises),
      Row("nccl_sendrecv", "every rank sends its buffer to the next rank, the last to the first",
          Op::custom, {kServersKey}, unsuited_nccl, one_chunk, write_nccl_sendrecv)
          .with(&Row::promises, nccl_sendrecv_promises),
      // Without the bits of a sum: ranks add in orders of their own; here their own data first.
      Row("mscclpp_packets",
          "MSCCL++, small data: all data to all ranks of a server, sums to the partners "
          "in other servers",
          Op::all_reduce, {kServersKey}, unsuited_server_size, one_chunk, write_mscclpp_packets)
          .with(&Row::bitwise_identical, false),
      Row("mscclpp_allgather",
          "MSCCL++ between servers: a part enters a server once and is handed on there",
          Op::all_gather, {kServersKey}, unsuited_servers, per_rank, write_mscclpp_allgather),
      Row("window", "torus, small data: windows grow on both sides, in half a ring's hops",
          Op::all_reduce, {kSegmentsKey}, unsuited_rings, per_dimension, write_window)
          .with(&Row::segments, window_segments)
          .with(&Row::bitwise_identical, false)
          .with(&Row::protocol, Protocol::message),
      Row("rs_window_ag",
          "torus, medium data: a reduce-scatter in one dimension, windows in the "
          "others, an all-gather",
          Op::all_reduce, {kSegmentsKey}, unsuited_rs_window_ag, rs_window_ag_chunks,
          write_rs_window_ag)
          .with(&Row::segments, rs_window_ag_segments)
          .with(&Row::bitwise_identical, false)
          .with(&Row::protocol, Protocol::message),
      Row("line", "mesh, small data: running sums go both ways along every line", Op::all_reduce,
          {kSegmentsKey}, unsuited_mesh, per_dimension, write_line)
          .with(&Row::segments, line_segments)
          .with(&Row::bitwise_identical, false)
          .with(&Row::protocol, Protocol::message),
      Row("recursive_doubling", "partners 1, 2, 4, ... ranks apart exchange all their data",
          Op::all_reduce, {}, unsuited_power_of_two, one_chunk, write_recursive_doubling)
          .with(&Row::protocol, Protocol::message),
      Row("swing_latency",
          "Swing on a torus: partners 1, 1, 3, 5, 11, ... apart exchange all their data",
          Op::all_reduce, {}, unsuited_swing, per_direction, write_swing_latency)
          .with(&Row::protocol, Protocol::message),
      Row("swing_bandwidth",
          "Swing on a torus: a reduce-scatter and an all-gather among the same partners",
          Op::all_reduce, {}, unsuited_swing, per_rank_and_direction, write_swing_bandwidth)
          .with(&Row::protocol, Protocol::message),
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
