// The graph of the compiler: the instructions of ranks and their dependencies (GC3, section 4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alg/program/chunk_language.h"

namespace espalier {

// A dependency on an earlier node.
struct DagEdge {
  std::uint32_t from = 0;
  // A true dependency: the node needs data of `from`. A false dependency: `from` must be done with
  // a place that the node writes.
  bool is_true = false;
  friend bool operator==(const DagEdge& a, const DagEdge& b) {
    return a.from == b.from && a.is_true == b.is_true;
  }
};

// Keeps one edge for each node, ascending; a true dependency replaces a false one.
void simplify(std::vector<DagEdge>& edges);

// The operations of a trace, instances in a row, each with a share of its operation's chunks. Every
// chunk is cut into as many chunks as the least common multiple of the fragments' needs. If the
// chunks of an operation divide evenly, its instances take whole chunks. Throws ChunkError if the
// cut makes too many chunks.
[[nodiscard]] ChunkTrace cut_into_instances(const ChunkTrace& trace);

struct Instruction {
  static constexpr std::uint32_t kNone = ~0U;

  ProgramOp op = ProgramOp::nop;
  std::uint32_t rank = 0;
  // As in ProgramStep. The target of a send and the source of a receive are places of the peer; all
  // other places are local.
  ChunkSpan source;
  ChunkSpan target;
  // Before channels are assigned: the directed channel of the message. Afterwards: its channel.
  std::optional<std::uint32_t> channel;
  std::uint32_t instance = 0;
  std::uint32_t call = 0;
  std::uint32_t line = 0;
  std::vector<DagEdge> after;          // processing edges, within the rank, ascending
  std::uint32_t message_from = kNone;  // communication edge: the sender of its message
  std::uint32_t message_to = kNone;    // communication edge: the receiver of its message
  // Its number in the unfused DAG; for a fused instruction, the number of its receive.
  std::uint32_t traced = 0;
  bool result_is_promised = false;  // its result remains in a promised chunk

  [[nodiscard]] std::uint32_t count() const { return source.count; }
};

// The instruction DAG (GC3, section 4.2): the instructions of each rank, their order, and which
// instruction receives which message.
struct InstructionDag {
  Program signature;
  std::vector<Instruction> nodes;  // every edge leads forward

  [[nodiscard]] std::uint32_t peer_of(std::uint32_t message_end) const {
    return nodes[message_end].rank;
  }
};

// Unfused instructions in the order of the trace. Throws the exceptions of cut_into_instances().
[[nodiscard]] InstructionDag make_instruction_dag(const ChunkTrace& trace);

// Edges on the longest path from each node.
[[nodiscard]] std::vector<std::uint32_t> reverse_depths(const InstructionDag& dag);
// Edges on the longest path to each node.
[[nodiscard]] std::vector<std::uint32_t> depths(const InstructionDag& dag);

}  // namespace espalier
