// Parts of built-in programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/generators/rank_shapes.h"
#include "alg/program/builtin_programs.h"
#include "alg/program/chunk_language.h"

namespace espalier {

// The channel for a distance between ranks, for programs in which every rank sends to every other
// one. A rank has a sending and a receiving block for each distance, and an MSCCL document has at
// most 32 blocks of one channel.
[[nodiscard]] constexpr Directives channel_of_distance(std::uint32_t away) {
  constexpr std::uint32_t kDistancesPerChannel = 15;
  return {(away - 1) / kDistancesPerChannel};
}

// Calls visit(away, rank) for every rank and distance to a peer below `peers`. By distance, so that
// ranks do not all begin with the same peer.
template <class Visit>
void for_each_distance(std::uint32_t ranks, std::uint32_t peers, Visit visit) {
  for (std::uint32_t away = 1; away < peers; ++away) {
    for (std::uint32_t r = 0; r < ranks; ++r) visit(away, r);
  }
}

// One ring over `ranks`. Sequence r ends at ranks[r] (all-gather: starts there) and uses channel
// first_channel + r % channels. It has `count` chunks, from `offset` + r * `stride` on.
struct RingRuns {
  std::vector<std::uint32_t> ranks;
  ProgramBuffer buffer = ProgramBuffer::input;
  std::uint32_t offset = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 1;
  std::uint32_t first_channel = 0;
  std::uint32_t channels = 1;
  bool by_rank = false;  // the number of ranks[r] takes the place of r in the chunks
};
void write_ring_reduce_scatter(ChunkTracer& tracer, const RingRuns& runs);
void write_ring_all_gather(ChunkTracer& tracer, const RingRuns& runs);

// Reduces and broadcasts chunk `index` of the input over one tree, on the channel of that number.
void write_tree(ChunkTracer& tracer, const RankTree& tree, std::uint32_t index);

// Why a request is unsuited, as a sentence; empty if it is suited. Ranks are limited because
// programs grow with their square.
inline constexpr std::uint32_t kMostBuiltinRanks = 256;
[[nodiscard]] std::string unsuited_sizes(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_counts(const BuiltinRequest& request);  // of any number of ranks
[[nodiscard]] std::string unsuited_ring(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_power_of_two(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_servers(const BuiltinRequest& request);

// builtin_all_reduce.cpp, with the halves and trees of all-reduces
void write_ring(ChunkTracer& tracer, const BuiltinRequest& request);
void write_ring_rotated(ChunkTracer& tracer, const BuiltinRequest& request);
void write_allgather_ring(ChunkTracer& tracer, const BuiltinRequest& request);
void write_reducescatter_ring(ChunkTracer& tracer, const BuiltinRequest& request);
void write_allpairs(ChunkTracer& tracer, const BuiltinRequest& request);
void write_hierarchical(ChunkTracer& tracer, const BuiltinRequest& request);
void write_halving_doubling(ChunkTracer& tracer, const BuiltinRequest& request);
void write_allgather_recursive_doubling(ChunkTracer& tracer, const BuiltinRequest& request);
void write_binomial_tree(ChunkTracer& tracer, const BuiltinRequest& request);
void write_double_binary_tree(ChunkTracer& tracer, const BuiltinRequest& request);
void write_broadcast_tree(ChunkTracer& tracer, const BuiltinRequest& request);
// builtin_libraries.cpp
[[nodiscard]] std::string unsuited_nccl(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_nccl_ring(const BuiltinRequest& request);
void write_nccl_ring(ChunkTracer& tracer, const BuiltinRequest& request);
void write_nccl_reducescatter(ChunkTracer& tracer, const BuiltinRequest& request);
void write_nccl_allgather(ChunkTracer& tracer, const BuiltinRequest& request);
void write_nccl_tree(ChunkTracer& tracer, const BuiltinRequest& request);
void write_nccl_alltoall(ChunkTracer& tracer, const BuiltinRequest& request);
void write_nccl_sendrecv(ChunkTracer& tracer, const BuiltinRequest& request);
void write_mscclpp_packets(ChunkTracer& tracer, const BuiltinRequest& request);
void write_mscclpp_allgather(ChunkTracer& tracer, const BuiltinRequest& request);
[[nodiscard]] std::vector<PromisedChunk> nccl_alltoall_promises(const BuiltinRequest& request);
[[nodiscard]] std::vector<PromisedChunk> nccl_sendrecv_promises(const BuiltinRequest& request);
// builtin_window.cpp
[[nodiscard]] std::string unsuited_rs_window_ag(const BuiltinRequest& request);
void write_window(ChunkTracer& tracer, const BuiltinRequest& request);
void write_rs_window_ag(ChunkTracer& tracer, const BuiltinRequest& request);
[[nodiscard]] std::uint32_t window_segments(const BuiltinRequest& request);
[[nodiscard]] std::uint32_t rs_window_ag_chunks(const BuiltinRequest& request);
[[nodiscard]] std::uint32_t rs_window_ag_segments(const BuiltinRequest& request);
// builtin_line.cpp
void write_line(ChunkTracer& tracer, const BuiltinRequest& request);
[[nodiscard]] std::uint32_t line_segments(const BuiltinRequest& request);
// builtin_exchange.cpp
[[nodiscard]] std::string unsuited_swing(const BuiltinRequest& request);
void write_swing_latency(ChunkTracer& tracer, const BuiltinRequest& request);
void write_swing_bandwidth(ChunkTracer& tracer, const BuiltinRequest& request);
void write_recursive_doubling(ChunkTracer& tracer, const BuiltinRequest& request);
// builtin_all_to_all.cpp
void write_twostep_alltoall(ChunkTracer& tracer, const BuiltinRequest& request);
void write_direct_alltoall(ChunkTracer& tracer, const BuiltinRequest& request);

// The steps of a window on a ring: every node sums a window around itself that grows on both sides
// in every step. The node keeps the sums from which the window was built, and sends unions of them,
// so no contribution is counted twice.
//
// In one step, node i sends the sum of the leftmost `right` elements of its window to node
// i + right, and the sum of its rightmost `left` elements to node i - left. The window then has
// `right` more elements on its left side, and `left` more on its right side. 0: no message.
struct WindowStep {
  std::uint32_t right = 0;
  std::uint32_t left = 0;
  friend bool operator==(const WindowStep& a, const WindowStep& b) {
    return a.right == b.right && a.left == b.left;
  }
};

// The fewest steps with which the window of every node covers a ring of `nodes` nodes, 1 or more.
// The distances to the right sum up to floor(nodes / 2), which no all-reduce on a ring can beat.
// Every step but the last is as far to the left as to the right.
[[nodiscard]] std::vector<WindowStep> window_steps(std::uint32_t nodes);

}  // namespace espalier
