// Instructions on thread blocks, and what keeps those in step (GC3, section 5.2).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/program/instruction_dag.h"

namespace espalier {

// One block per (send peer, receive peer, channel) in use; ends that a fused instruction ties
// together belong to one block, others to blocks of their own. A local instruction goes to the
// block of its rank whose last instruction is the earliest. `order` must be one of
// order_instructions, and channels assigned.
[[nodiscard]] Program assemble(const InstructionDag& dag, const std::vector<std::uint32_t>& order);

}  // namespace espalier
