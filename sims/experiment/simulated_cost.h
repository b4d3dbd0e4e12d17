// Communication of training iterations, simulated.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "sims/point/config.h"
#include "sims/workload/training/dimension_cost.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/timeline.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// Every different operation of a workload once, with the network to itself: on the dimensions of
// its group, one NPU for all of them. What no planner plans (all_to_all) is left to `rest`.
class SimulatedCost : public CollectiveCost {
 public:
  // Simulates all of them, so: once per process. Preconditions: point.collective, a planner's.
  SimulatedCost(const RunPoint& point, const ParallelGroups& groups, const Workload& workload,
                ForecastCost& rest);

  [[nodiscard]] double nanoseconds(const CommunicationOp& op) override;
  // Why an operation did not end right; empty if all did.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  using Name = std::tuple<CollectiveOp, Bytes, CommunicationScope>;

  std::map<Name, double> known_;
  std::string failure_;
  ForecastCost& rest_;
};

}  // namespace espalier
