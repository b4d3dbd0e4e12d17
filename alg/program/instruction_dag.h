// The instruction DAG of a program (GC3, section 4.2): what single ranks do, in what order, and
// which instruction receives what which one sends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/chunk_dag.h"

namespace espalier {

struct Instruction {
  static constexpr std::uint32_t kNone = ~0U;

  ProgramOp op = ProgramOp::nop;
  std::uint32_t rank = 0;
  // As in ProgramStep: of a send the target is where the peer puts it, of a receive the source is
  // where it came from; everything else is local.
  ChunkSpan source;
  ChunkSpan target;
  // Directed channel of its message until channels are assigned; then the channel.
  std::optional<std::uint32_t> channel;
  std::uint32_t instance = 0;
  std::uint32_t call = 0;
  std::uint32_t line = 0;
  std::vector<DagEdge> after;          // processing edges: instructions of the same rank, ascending
  std::uint32_t message_from = kNone;  // communication edges: who sends what it receives,
  std::uint32_t message_to = kNone;    // who receives what it sends
  std::uint32_t traced = 0;            // number of it, or of its receive, in the unfused DAG
  bool result_is_promised = false;     // in the end a promised chunk is what it wrote

  [[nodiscard]] std::uint32_t count() const { return source.count; }
};

struct InstructionDag {
  Program signature;
  std::vector<Instruction> nodes;  // every edge leads forward

  [[nodiscard]] std::uint32_t peer_of(std::uint32_t message_end) const {
    return nodes[message_end].rank;
  }
};

// Unfused, in the order of the trace.
[[nodiscard]] InstructionDag make_instruction_dag(const ChunkDag& chunks);

// Edges from a node to the end of the longest path.
[[nodiscard]] std::vector<std::uint32_t> reverse_depths(const InstructionDag& dag);
// From the start of the longest path to a node.
[[nodiscard]] std::vector<std::uint32_t> depths(const InstructionDag& dag);

struct ChannelRules {
  bool fuse = true;
  std::uint32_t most = 32;  // undirected chains use the channels below; NCCL has as many
  // Of a connection. A message of more chunks streams through a chain of fused instructions, and
  // all of them must run at once: such a chain comes to no rank twice.
  std::uint32_t slots = 8;
  std::vector<bool> apart;  // by receive in the unfused DAG: it is not to be joined with a send
};
// Joins receives with the sends of the same chunks to fused instructions (rcs, rrcs, rrs) and
// assigns channels: what is directed, else the lowest with which no connection gets two owners; one
// channel all along a chain of fused instructions; instances have channels of their own. Where
// several sends wait for a receive, the one on the longest path is joined. Joins that channels do
// not allow are not made.
[[nodiscard]] InstructionDag fuse_and_assign_channels(const InstructionDag& dag,
                                                      const ChannelRules& rules = {});

// One node per line: "4: rrs rank 2 in[0..1] to rank 0 from 1 channel 0 after 3, (2)".
[[nodiscard]] std::string to_text(const InstructionDag& dag);
// For Graphviz; communication edges bold, false dependencies dashed.
[[nodiscard]] std::string to_dot(const InstructionDag& dag);

}  // namespace espalier
