// Rules between a link and the router clock, said of system.link and of each link in a graph file.
#pragma once

#include <cstdint>

#include "hw/link_timing.h"
#include "sims/config/config.h"
#include "sims/config/diagnostics.h"
#include "sims/config/given_keys.h"

namespace espalier {

// A link carries at most one flit per router cycle.
void check_link_rate(std::uint64_t bytes_per_second, const ClockSpec& clock, const Place& place,
                     Diagnostics& diagnostics);
// Warns where a time is not a whole number of router cycles. `what` names it.
void check_whole_cycles(const char* what, std::uint64_t picoseconds, const ClockSpec& clock,
                        const Place& place, Diagnostics& diagnostics);

// Both of all links of a system without dimensions. `topology` is nullptr where it could not be
// built.
void check_links(const SystemConfig& system, const Topology* topology, const GivenKeys& given,
                 Diagnostics& diagnostics);

}  // namespace espalier
