// How many clock cycles logic takes, and how fast a clock it permits.
#pragma once

#include <vector>

#include "hw/ids.h"

namespace espalier {

// Delays in ps, in the order in which a flit meets them. Neighbouring stages share a cycle as long
// as they fit; a longer one takes as many cycles as it needs, pipelined, with registers of its own.
[[nodiscard]] Cycle cycles_of(const std::vector<double>& stages_ps, double period_ps);

// The shortest period with which `stages_ps` take at most `cycles` >= 1.
[[nodiscard]] double shortest_period_ps(const std::vector<double>& stages_ps, Cycle cycles);

}  // namespace espalier
