// Shortens the way of a wave through a period that is full of slots, by exchanging slots.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/packing/wave_plan.h"

namespace espalier {

// The slots of the ops of a wave. Op o starts at phase_ps[o] + slot[o] * slot_ps[o] within the
// period. `fixed` ops keep their slots: they take more than one slot of some link.
struct OpSlots {
  std::uint64_t period_ps = 0;
  std::vector<std::uint64_t> slot_ps;     // by op
  std::vector<std::uint64_t> phase_ps;    // by op
  std::vector<std::uint64_t> arrival_ps;  // by op, from its start to the ops that wait for it
  std::vector<std::uint32_t> slot;        // by op
  std::vector<bool> fixed;                // by op
};

// Links at their bound have no slot to spare, so the ops that are placed last wait for a period at
// each link. Here an op that waits takes an earlier slot of its links; the op that had this slot
// takes the first op's slot, and so on along the links while ops collide (Kempe chains, as in edge
// colouring). An exchange stays if its units arrive earlier; late units count more. `attempts`:
// exchanges that are tried.
void exchange_slots(const RouteSet& routes, const std::vector<WaveOp>& ops, OpSlots& slots,
                    std::uint64_t attempts);

}  // namespace espalier
