// Rules between a link and the router clock, said of system.link and of each link in a graph file.
#pragma once

#include <cstdint>

#include "hw/link_timing.h"
#include "sims/config/diagnostics.h"

namespace espalier {

// A link carries at most one flit per router cycle.
void check_link_rate(std::uint64_t bytes_per_second, const ClockSpec& clock, const Place& place,
                     Diagnostics& diagnostics);
// Warns where a time is not a whole number of router cycles. `what` names it.
void check_whole_cycles(const char* what, std::uint64_t picoseconds, const ClockSpec& clock,
                        const Place& place, Diagnostics& diagnostics);

}  // namespace espalier
