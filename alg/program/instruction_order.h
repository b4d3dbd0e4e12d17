// One order of all instructions in which they can run one after the other: every thread block runs
// its own in this order, so that no wait can close a cycle (GC3, section 5.2).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/program/instruction_dag.h"

namespace espalier {

enum class OrderBy : std::uint8_t {
  depth,  // lower dependency depth first, then higher reverse depth
  // The same, but nothing is sent before its receive could take it. Some instruction is always
  // stuck then, if not all are ordered.
  readiness,
  trace,  // as they were written
};

struct InstructionOrder {
  std::vector<std::uint32_t> order;  // all of them; fewer where no order was found
  // Then: fused instructions that have their message and wait for a slot, or what waits with them.
  std::vector<std::uint32_t> stuck;
};

// At no time a connection holds more chunks than it has slots, each of which may have to carry a
// single chunk of a message. A message of more chunks than slots stands right before its receive:
// both run at once. Unfused instructions always have an order by the trace.
[[nodiscard]] InstructionOrder order_instructions(const InstructionDag& dag, OrderBy priority,
                                                  std::uint32_t slots);

}  // namespace espalier
