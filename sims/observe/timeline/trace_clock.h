// Ticks on the time axis of a trace.
#pragma once

#include <cstdint>

#include "hw/topology/link_timing.h"

namespace espalier {

class TraceClock {
 public:
  TraceClock(std::uint64_t hertz, Tick ticks_per_cycle)
      : hertz_(hertz), ticks_per_cycle_(ticks_per_cycle) {}

  [[nodiscard]] Tick tick(Cycle cycle) const { return cycle * ticks_per_cycle_; }
  // In microseconds, to the picosecond, rounded down: a number that is written as that decimal.
  [[nodiscard]] double at(Tick tick) const { return microseconds(picoseconds(tick)); }
  // The same from one tick to another, so that what ends there ends where the next thing begins.
  [[nodiscard]] double between(Tick begin, Tick end) const {
    return microseconds(picoseconds(end) - picoseconds(begin));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  [[nodiscard]] std::uint64_t picoseconds(Tick tick) const {
    constexpr std::uint64_t kPerSecond = 1'000'000'000'000;
    return static_cast<std::uint64_t>(Wide{tick} * kPerSecond / (Wide{hertz_} * ticks_per_cycle_));
  }
  [[nodiscard]] static double microseconds(std::uint64_t picoseconds) {
    return static_cast<double>(picoseconds) / 1e6;
  }

  std::uint64_t hertz_;
  Tick ticks_per_cycle_;
};

}  // namespace espalier
