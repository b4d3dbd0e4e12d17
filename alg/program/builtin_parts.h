// Parts of built-in programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/generators/rank_shapes.h"
#include "alg/program/builtin_programs.h"
#include "alg/program/chunk_language.h"
#include "alg/program/compiler.h"

namespace espalier {

// A signature for the request. The program sets chunks, root and promises.
[[nodiscard]] ProgramSignature signature_for(const BuiltinRequest& request, const char* name,
                                             CollectiveOp collective, std::uint32_t chunks,
                                             bool in_place);

// Compiles the program that `write` writes, with the request's number of instances.
template <class Write>
[[nodiscard]] Program build_program(const BuiltinRequest& request,
                                    const ProgramSignature& signature, Write write,
                                    const CompileOptions& options = {}) {
  ChunkTracer tracer(signature);
  {
    const auto instances = tracer.parallelize(request.instances);
    write(tracer);
  }
  return compile(tracer.finish(), options);
}

// The channel for a distance between ranks, for programs in which every rank sends to every other
// one. A rank has a sending and a receiving block for each distance, and an MSCCL document has at
// most 32 blocks of one channel.
[[nodiscard]] constexpr Directives channel_of_distance(std::uint32_t away) {
  constexpr std::uint32_t kDistancesPerChannel = 15;
  return {(away - 1) / kDistancesPerChannel};
}

// For programs of small messages: a local step must not stand behind a receive whose message comes
// later.
[[nodiscard]] inline CompileOptions with_data() {
  CompileOptions options;
  options.locals = LocalPlacement::with_data;
  return options;
}

// The ranks 0, 1, 2, ...
[[nodiscard]] std::vector<std::uint32_t> all_ranks(const BuiltinRequest& request);

// One ring over `ranks`. Sequences of `count` chunks begin at `offset`. Sequence r ends at ranks[r]
// (all-gather: starts there) and uses channel first_channel + r % channels.
struct RingRuns {
  std::vector<std::uint32_t> ranks;
  ProgramBuffer buffer = ProgramBuffer::input;
  std::uint32_t offset = 0;
  std::uint32_t count = 1;
  std::uint32_t first_channel = 0;
  std::uint32_t channels = 1;
};
void write_ring_reduce_scatter(ChunkTracer& tracer, const RingRuns& runs);
void write_ring_all_gather(ChunkTracer& tracer, const RingRuns& runs);

// Reduces and broadcasts chunk `index` of the input over one tree, on the channel of that number.
void write_tree(ChunkTracer& tracer, const RankTree& tree, std::uint32_t index);

// Why a request is unsuited, as a sentence; empty if it is suited. Ranks are limited because
// programs grow with their square.
inline constexpr std::uint32_t kMostBuiltinRanks = 256;
[[nodiscard]] std::string unsuited_sizes(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_ring(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_power_of_two(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_servers(const BuiltinRequest& request);

// builtin_all_reduce.cpp, with the halves and trees of all-reduces
[[nodiscard]] Program build_ring(const BuiltinRequest& request);
[[nodiscard]] Program build_ring_rotated(const BuiltinRequest& request);
[[nodiscard]] Program build_allgather_ring(const BuiltinRequest& request);
[[nodiscard]] Program build_reducescatter_ring(const BuiltinRequest& request);
[[nodiscard]] Program build_allpairs(const BuiltinRequest& request);
[[nodiscard]] Program build_hierarchical(const BuiltinRequest& request);
[[nodiscard]] Program build_halving_doubling(const BuiltinRequest& request);
[[nodiscard]] Program build_allgather_recursive_doubling(const BuiltinRequest& request);
[[nodiscard]] Program build_binomial_tree(const BuiltinRequest& request);
[[nodiscard]] Program build_double_binary_tree(const BuiltinRequest& request);
[[nodiscard]] Program build_broadcast_tree(const BuiltinRequest& request);
// builtin_nccl.cpp
[[nodiscard]] std::string unsuited_nccl(const BuiltinRequest& request);
[[nodiscard]] Program build_nccl_ring(const BuiltinRequest& request);
[[nodiscard]] Program build_nccl_reducescatter(const BuiltinRequest& request);
[[nodiscard]] Program build_nccl_allgather(const BuiltinRequest& request);
[[nodiscard]] Program build_nccl_tree(const BuiltinRequest& request);
[[nodiscard]] Program build_nccl_alltoall(const BuiltinRequest& request);
[[nodiscard]] Program build_nccl_sendrecv(const BuiltinRequest& request);
// builtin_mscclpp.cpp
[[nodiscard]] Program build_mscclpp_packets(const BuiltinRequest& request);
// builtin_window.cpp
[[nodiscard]] std::string unsuited_rs_window_ag(const BuiltinRequest& request);
[[nodiscard]] Program build_window(const BuiltinRequest& request);
[[nodiscard]] Program build_rs_window_ag(const BuiltinRequest& request);
// builtin_line.cpp
[[nodiscard]] Program build_line(const BuiltinRequest& request);
// builtin_exchange.cpp
[[nodiscard]] std::string unsuited_swing(const BuiltinRequest& request);
[[nodiscard]] Program build_swing_latency(const BuiltinRequest& request);
[[nodiscard]] Program build_swing_bandwidth(const BuiltinRequest& request);
[[nodiscard]] Program build_recursive_doubling(const BuiltinRequest& request);
// builtin_all_to_all.cpp
[[nodiscard]] Program build_twostep_alltoall(const BuiltinRequest& request);
[[nodiscard]] Program build_direct_alltoall(const BuiltinRequest& request);

}  // namespace espalier
