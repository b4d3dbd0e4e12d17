// The passes of the compiler after the instruction DAG: fusion, channels, order, thread blocks
// (GC3, sections 4.2, 5.2 and 6.1).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/program/compiler.h"
#include "alg/program/program.h"
#include "alg/program/program_dag.h"

namespace espalier {

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
