// Converts seconds and bytes per second to router clock cycles. No other file does so.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/topology.h"

namespace espalier {

// Time in units of 1/ticks_per_cycle of a router clock cycle. The whole system has one tick length.
// A link with a fractional rate therefore keeps its phase from packet to packet, and ticks of
// different links can be compared.
using Tick = std::uint64_t;

struct ClockSpec {
  std::uint64_t hertz = 1'000'000'000;
  std::uint32_t flit_bytes = 16;
};

struct LinkTiming {
  Cycle latency = 1;        // cycles, >= 1
  Tick ticks_per_flit = 1;  // >= ticks_per_cycle: a link carries at most one flit per cycle
};

struct SystemTiming {
  Tick ticks_per_cycle = 1;
  std::vector<LinkTiming> links;  // by LinkId
};

// Cycles that cover `picoseconds`, rounded up to a clock edge.
[[nodiscard]] Cycle cycles_covering(std::uint64_t picoseconds, const ClockSpec& clock);

[[nodiscard]] constexpr std::uint32_t flit_bytes_of(const LinkSpec& link, const ClockSpec& clock) {
  return link.flit_bytes != 0 ? link.flit_bytes : clock.flit_bytes;
}

// The longest time that rounds up to `cycles` cycles. cycles_covering() maps it back to `cycles`
// for clocks up to 1 THz.
[[nodiscard]] std::uint64_t picoseconds_of(Cycle cycles, const ClockSpec& clock);

// A flit takes exactly flit_bytes * hertz / bytes_per_second cycles, where flit_bytes is the link's
// own flit width if it has one. ticks_per_cycle is the least common multiple of the denominators.
// Throws std::invalid_argument if a link is faster than one flit per cycle, if its latency rounds
// to 0 cycles, or if no common tick of at most 2^20 per cycle exists.
[[nodiscard]] SystemTiming time_links(const Topology& topology, const ClockSpec& clock);
// The result's `links` has the indices of the argument.
[[nodiscard]] SystemTiming time_links(const std::vector<TopologyLink>& links,
                                      const ClockSpec& clock);

[[nodiscard]] constexpr double nanoseconds(Cycle cycles, const ClockSpec& clock) {
  return static_cast<double>(cycles) * 1e9 / static_cast<double>(clock.hertz);
}

}  // namespace espalier
