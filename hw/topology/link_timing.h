// The one place where seconds and bytes per second become router clock cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/topology.h"

namespace espalier {

// Time within a cycle, in 1/ticks_per_cycle of the router clock. One tick length for a whole
// system, so that a fractional link rate keeps its phase from packet to packet and ticks of
// different links compare.
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

// The longest time that `cycles` cycles cover: cycles_covering() maps it back to `cycles`, up to 1
// THz.
[[nodiscard]] std::uint64_t picoseconds_of(Cycle cycles, const ClockSpec& clock);

// Cycles per flit are the exact fraction flit_bytes * hertz / bytes_per_second, with the link's own
// flit width where it has one; ticks_per_cycle is the least common multiple of the denominators.
// Throws std::invalid_argument where a link is faster than one flit per cycle, where its latency
// rounds to less than a cycle, or where no common tick of at most 2^20 per cycle exists.
[[nodiscard]] SystemTiming time_links(const Topology& topology, const ClockSpec& clock);
// The timing of `links`, by index.
[[nodiscard]] SystemTiming time_links(const std::vector<TopologyLink>& links,
                                      const ClockSpec& clock);

[[nodiscard]] constexpr double nanoseconds(Cycle cycles, const ClockSpec& clock) {
  return static_cast<double>(cycles) * 1e9 / static_cast<double>(clock.hertz);
}

}  // namespace espalier
