// A run of flits, or of credits, at a fixed rate. Trains consist of runs. A closed form gives the
// number of flits that have passed at any tick, so no counter advances with time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/topology/link_timing.h"

namespace espalier {

// The number of ticks in start, start + rate, ... that lie before `tick`.
[[nodiscard]] inline std::uint64_t ticks_before(Tick start, Tick rate, Tick tick) {
  if (tick <= start) return 0;
  const Tick passed = tick - start;
  return rate == 1 ? passed : (passed + rate - 1) / rate;
}

// The cycle of a tick. Most systems have one tick per cycle; the test avoids a slow division.
[[nodiscard]] inline Cycle cycle_of_tick(Tick tick, Tick ticks_per_cycle) {
  return ticks_per_cycle == 1 ? tick : tick / ticks_per_cycle;
}

struct FlitRun {
  Tick start = 0;  // tick of the first flit
  Tick rate = 1;   // ticks from one flit to the next
  std::uint64_t n = 0;

  [[nodiscard]] std::uint64_t before(Tick tick) const {
    return std::min(n, ticks_before(start, rate, tick));
  }
  [[nodiscard]] Tick tick_of(std::uint64_t i) const { return start + i * rate; }
  // `next` follows without a gap, at the same rate.
  [[nodiscard]] bool goes_on_with(const FlitRun& next) const {
    return rate == next.rate && tick_of(n) == next.start;
  }
  // The first `count` flits pass.
  void drop(std::uint64_t count) {
    start += count * rate;
    n -= count;
  }
};

}  // namespace espalier
