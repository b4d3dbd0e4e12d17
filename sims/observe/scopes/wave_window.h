// The part of a run that is recorded.
#pragma once

#include <optional>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

// In cycles or in timesteps of the schedule. A step begins where the first NI enters it, and ends
// where the last one enters the next. Nothing given: the whole run.
struct WaveWindow {
  std::optional<Cycle> from;
  std::optional<Cycle> to;  // not in the window any more
  std::optional<Timestep> from_step;
  std::optional<Timestep> to_step;  // the last one in the window

  [[nodiscard]] bool is_whole_run() const { return !from && !to && !from_step && !to_step; }
};

}  // namespace espalier
