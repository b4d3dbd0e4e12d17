// The instruction DAG of the compiler (GC3, section 4), and its passes: fusion, channels, order,
// thread blocks (sections 4.2, 5.2 and 6.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alg/program/chunk_language.h"
#include "alg/program/compiler.h"
#include "alg/program/program.h"

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

struct ChannelRules {
  bool fuse = true;
  std::uint32_t most = 32;  // undirected chains use channels below this number; NCCL has 32
  // Slots of each connection. A message with more chunks than slots streams through a chain of
  // fused instructions that all run at the same time, so the chain must not visit a rank twice.
  std::uint32_t slots = 8;
  std::vector<bool> apart;  // by receive in the unfused DAG: must not be joined with a send
};
// Joins receives with the sends of the same chunks to fused instructions (rcs, rrcs, rrs) and
// assigns channels. If several sends wait for a receive, the send on the longest path is joined. A
// message gets its directed channel, or the lowest channel with which no connection gets two
// owners. A chain of fused instructions has one channel; receives and sends whose channels differ
// are not joined. Instances have their own channels.
[[nodiscard]] InstructionDag fuse_and_assign_channels(const InstructionDag& dag,
                                                      const ChannelRules& rules = {});

enum class OrderBy : std::uint8_t {
  depth,      // lower dependency depth first, then higher reverse depth
  readiness,  // as depth, but a message is sent only when its receive can take it
  trace,      // as written
};

struct InstructionOrder {
  std::vector<std::uint32_t> order;  // incomplete if no order was found
  // If incomplete: fused instructions that have their message and wait for a slot, or instructions
  // that wait with them. Never empty with OrderBy::readiness.
  std::vector<std::uint32_t> stuck;
};

// An order of all instructions in which they can run one after the other. Every thread block
// executes its own instructions in this order, so waits cannot form a cycle. A connection never
// holds more chunks than it has slots, because a slot may carry only a single chunk. A message with
// more chunks than slots comes directly before its receive, and both run at the same time. Unfused
// instructions always have an order: the order of the trace.
[[nodiscard]] InstructionOrder order_instructions(const InstructionDag& dag, OrderBy priority,
                                                  std::uint32_t slots);

// Assigns instructions to thread blocks, and adds the waits between blocks. There is one block for
// each (send peer, receive peer, channel) in use. Connection ends that a fused instruction ties
// together belong to one block; other ends have blocks of their own. `locals` says where local
// instructions go. Preconditions: `order` is complete, and channels are assigned.
[[nodiscard]] Program assemble(const InstructionDag& dag, const std::vector<std::uint32_t>& order,
                               LocalPlacement locals = LocalPlacement::idlest);

}  // namespace espalier
