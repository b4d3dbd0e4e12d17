// Communication on a multi-dimensional system without simulating it: by the pre-simulation, which
// knows the cycles of one collective on an idle network, or by bandwidth alone.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/order_forecast.h"
#include "hw/topology/dimensions.h"
#include "sims/workload/training/collective_cost.h"
#include "sims/workload/training/parallel_groups.h"

namespace espalier {

// The dimensions of a system as `group` sees them: smaller ones where it has only part of them. A
// part of a switch keeps its bandwidth; of a fully connected dimension an NPU uses the links to its
// own part only.
[[nodiscard]] std::vector<PlannedDimension> planned_for(
    const LogicalGroup& group, const std::vector<DimensionSpec>& dimensions,
    const std::vector<PlannedDimension>& planned);

// What a multi-dimensional system is to these costs.
struct CostSystem {
  std::vector<DimensionSpec> dimensions;
  std::vector<PlannedDimension> planned;
  ForecastSpec forecast;
  double cycle_ns = 1;
};

// All bytes at the summed bandwidth of the group's dimensions: the paper's Ideal. An all_to_all's
// bytes are those of its stages, see ForecastCost.
class IdealCost : public CollectiveCost {
 public:
  IdealCost(const CostSystem& system, const ParallelGroups& groups)
      : system_(system), groups_(groups) {}
  [[nodiscard]] double nanoseconds(const CommunicationOp& op) override;

 private:
  const CostSystem& system_;
  const ParallelGroups& groups_;
};

// Planned by `algorithm` ("baseline", "themis") and forecast. Neither plans an all_to_all: in every
// dimension an NPU sends each peer directly what is for it and those behind it, S (P - 1) / P of
// its S bytes, one dimension after the other, pipelined in as many chunks as the plans have.
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
  PlanRequest request_;  // but for op and size
  std::map<std::tuple<CollectiveOp, Bytes, CommunicationScope>, double> known_;
};

}  // namespace espalier
