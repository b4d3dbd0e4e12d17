// Cycles on the time axis of a waveform, the same in all formats.
#pragma once

#include <cstdint>

#include "hw/ids.h"
#include "hw/topology/link_timing.h"

namespace espalier {

class WaveClock {
 public:
  // 1 Hz to 1 THz, else std::invalid_argument: cycles of less than the unit would fall together.
  explicit WaveClock(std::uint64_t hertz);

  // The unit of time is 10 to this power in seconds: -9 at 1 GHz, so that the axis reads cycles,
  // and -12 at every other clock.
  [[nodiscard]] int timescale() const { return counts_cycles_ ? -9 : -12; }

  // When the cycle begins, in that unit, rounded down; different for different cycles.
  [[nodiscard]] std::uint64_t time(Cycle cycle) const {
    return counts_cycles_ ? cycle : picoseconds_of(cycle, clock_);
  }

 private:
  ClockSpec clock_;
  bool counts_cycles_;
};

}  // namespace espalier
