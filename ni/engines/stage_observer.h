#pragma once

#include "alg/plans/dimension_plan.h"
#include "hw/ids.h"

namespace espalier {

// Told when the stages of one NI's chunks wait, run and end.
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  virtual void ready(StageRef stage, Cycle now) = 0;    // in its dimension's queue
  virtual void started(StageRef stage, Cycle now) = 0;  // its first operation is issued
  virtual void ended(StageRef stage, Cycle now) = 0;    // all is sent, and all is in memory
};

}  // namespace espalier
