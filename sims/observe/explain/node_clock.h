// When a node's host posts its collectives, and how its clock differs from everyone's.
#pragma once

#include "hw/ids.h"

namespace espalier {

struct NodeClock {
  Cycle late = 0;      // its host posts so much later
  Cycle skew = 0;      // and its clock is so much behind
  Cycle per_step = 0;  // its down-counter takes so much longer for each timestep

  [[nodiscard]] Cycle start() const { return late + skew; }
};

}  // namespace espalier
