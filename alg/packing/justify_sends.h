// Shortens a plan of many waves by moving each of its messages as far as gaps between others allow.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/packing/wave_plan.h"

namespace espalier {

// What the ops of a wave occupy: op o takes link uses[i].link for length_ps, from offset_ps after
// its start on, for i in [begin[o], begin[o + 1]).
struct LinkUses {
  struct Use {
    std::uint32_t link = 0;
    std::uint64_t offset_ps = 0;
    std::uint64_t length_ps = 0;
  };
  std::vector<std::uint32_t> begin{0};
  std::vector<Use> uses;
  std::vector<std::uint64_t> arrival_ps;  // by op, from its start to the ops that wait for it
};

// `start_ps[w * ops + o]`: start of message `o` in wave `w`. Precondition, preserved: no link
// carries two messages at once, and each message starts after its predecessors have arrived.
//
// While waves fill the network and while they leave it, links have gaps. All messages move as late
// as they can, the last ones first, and then as early as they can, the first ones first (double
// justification: Valls, Ballestin, Quintanilla 2005): a message takes a gap and leaves a gap to the
// messages behind it, until the gap is at an end of the plan. Repeated while the plan becomes
// shorter.
void justify_sends(const std::vector<WaveOp>& ops, const WaveSuccessors& after,
                   const LinkUses& uses, std::vector<std::uint64_t>& start_ps);

}  // namespace espalier
