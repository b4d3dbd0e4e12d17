// Time of communication on a multi-dimensional system without a simulation: forecast for an idle
// network, or from bandwidth alone.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/order_forecast.h"
#include "hw/topology/dimensions.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/timeline.h"

namespace espalier {

// The dimensions in which `group` extends, reduced to the group's part. Part of a switched
// dimension keeps its bandwidth. In part of a fully connected dimension, an NPU uses only the links
// to that part.
[[nodiscard]] std::vector<PlannedDimension> planned_for(
    const LogicalGroup& group, const std::vector<DimensionSpec>& dimensions,
    const std::vector<PlannedDimension>& planned);

// The properties of a multi-dimensional system that the costs depend on.
struct CostSystem {
  std::vector<DimensionSpec> dimensions;
  std::vector<PlannedDimension> planned;
  ForecastSpec forecast;
  double cycle_ns = 1;
};

// The paper's Ideal: all bytes at the summed bandwidth of the group's dimensions. An all_to_all
// counts the bytes of its stages, see ForecastCost.
class IdealCost : public CollectiveCost {
 public:
  IdealCost(const CostSystem& system, const ParallelGroups& groups)
      : system_(system), groups_(groups) {}
  [[nodiscard]] double nanoseconds(const CommunicationOp& op) override;

 private:
  const CostSystem& system_;
  const ParallelGroups& groups_;
};

// A plan of `algorithm` (a planner), forecast. An all_to_all has no plan: it passes
// the dimensions one after the other, pipelined in the plans' number of chunks. In each dimension
// of P NPUs, an NPU sends S (P - 1) / P of its S bytes directly to its peers.
class ForecastCost : public CollectiveCost {
 public:
  ForecastCost(const CostSystem& system, const ParallelGroups& groups, std::string algorithm,
               PlanRequest request);
  [[nodiscard]] double nanoseconds(const CommunicationOp& op) override;

 private:
  [[nodiscard]] double forecast(const CommunicationOp& op) const;

  const CostSystem& system_;
  const ParallelGroups& groups_;
  std::string algorithm_;
  PlanRequest request_;  // without op and size
  std::map<std::tuple<CollectiveOp, Bytes, CommunicationScope>, double> known_;
};

}  // namespace espalier
