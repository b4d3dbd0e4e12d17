// What one link may say, in a configuration and in a file of links alike.
#pragma once

#include <cstdint>

#include "hw/topology/link_timing.h"
#include "sims/text/diagnostics.h"
#include "sims/text/values.h"

namespace espalier {

// The shapes of the keys system.link.latency and system.link.bandwidth.
[[nodiscard]] ValueShape link_latency_shape();
[[nodiscard]] ValueShape link_bandwidth_shape();

// A link carries at most one flit per router cycle.
void check_link_rate(std::uint64_t bytes_per_second, const ClockSpec& clock, const Place& place,
                     Diagnostics& diagnostics);
// Warns where a time is not a whole number of router cycles. `what` names the time.
void check_whole_cycles(const char* what, std::uint64_t picoseconds, const ClockSpec& clock,
                        const Place& place, Diagnostics& diagnostics);

}  // namespace espalier
