// The two graphs of the compiler: operations on chunks, and instructions of ranks (GC3, section 4).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
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

// One instance of an operation. The initial input chunks have no node.
struct ChunkNode {
  TransferKind kind = TransferKind::copy;
  ChunkSpan source;
  ChunkSpan target;
  std::optional<std::uint32_t> channel;  // as directed
  std::uint32_t instance = 0;            // of its fragment
  std::uint32_t call = 0;
  std::uint32_t line = 0;
  std::vector<DagEdge> after;  // ascending

  [[nodiscard]] bool is_remote() const { return source.rank != target.rank; }
};

// The chunk DAG (GC3, section 4.1): operations and their dependencies.
struct ChunkDag {
  // Every chunk is cut into `split` chunks, the least common multiple of the fragments' needs. If
  // the chunks of an operation divide evenly, its instances take whole chunks.
  std::uint32_t split = 1;
  Program signature;  // in chunks after the cut
  // In the order of the trace, instances in a row. Every edge leads forward.
  std::vector<ChunkNode> nodes;
};

// Throws ChunkError if the cut makes too many chunks.
[[nodiscard]] ChunkDag make_chunk_dag(const ChunkTrace& trace);

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

// Unfused instructions in the order of the trace.
[[nodiscard]] InstructionDag make_instruction_dag(const ChunkDag& chunks);

// Edges on the longest path from each node.
[[nodiscard]] std::vector<std::uint32_t> reverse_depths(const InstructionDag& dag);
// Edges on the longest path to each node.
[[nodiscard]] std::vector<std::uint32_t> depths(const InstructionDag& dag);

// One node per line; false dependencies are in parentheses:
//   3: reduce rank 0 in[1] into rank 1 in[1] after 0, (2)
//   4: rrs rank 2 in[0..1] to rank 0 from rank 1 channel 0 after message of 3, (2)
[[nodiscard]] std::string to_text(const ChunkDag& dag);
[[nodiscard]] std::string to_text(const InstructionDag& dag);
// For Graphviz. Messages are bold, false dependencies dashed.
[[nodiscard]] std::string to_dot(const ChunkDag& dag);
[[nodiscard]] std::string to_dot(const InstructionDag& dag);

}  // namespace espalier
