// Simulates the points of a sweep that are not there yet.
#pragma once

#include <cstddef>
#include <string>

#include "sims/experiment/sweep/point_store.h"
#include "sims/experiment/sweep/shard.h"
#include "sims/experiment/sweep/sweep_plan.h"
#include "sims/experiment/workers.h"

namespace espalier {

struct SweepRunSettings {
  std::string program;  // of the workers
  std::string folder;   // where paths in the points' configurations start
  std::string command;  // that runs the sweep; a point's has its id behind
  std::string only_id;  // not empty: this point, even if it is finished
  Shard shard;
  std::size_t at_once = 1;
  WorkerLimits limits;
  bool keep_failed = false;  // points that failed before are not tried again
};

// Of the points that belong to the shard. Only what stands in the folder counts as finished or
// failed.
struct SweepTally {
  std::size_t points = 0;
  std::size_t finished_before = 0;
  std::size_t finished_now = 0;
  std::size_t failed = 0;  // kept ones included
  int signal = 0;          // that stopped the sweep
  bool writable = true;    // false: something could not be written, and the sweep stopped

  [[nodiscard]] std::size_t left() const {
    return points - finished_before - finished_now - failed;
  }
};

// Failures go to stderr as they come.
[[nodiscard]] SweepTally run_sweep(const SweepPlan& plan, const PointStore& store,
                                   const SweepRunSettings& settings);

}  // namespace espalier
