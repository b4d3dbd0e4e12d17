// The algorithms of multi-dimensional systems: what they make is no schedule of transfers but a
// plan, whose stages the NIs run.
#pragma once

#include <string>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "hw/topology/topology.h"

namespace espalier {

struct Planner {
  std::string name;
  std::string summary;            // one line for `espalier list algorithms`
  std::vector<CollectiveOp> ops;  // what it can compute
  // Precondition: ops has request.op.
  DimensionPlan (*plan)(const std::vector<PlannedDimension>& dimensions,
                        const PlanRequest& request);
};

// In the order in which they are listed to users.
[[nodiscard]] const std::vector<Planner>& planners();
// nullptr where no planner has that name.
[[nodiscard]] const Planner* find_planner(const std::string& name);

// See Generator::unsuited; the same for all of them.
[[nodiscard]] std::string unsuited_for_planners(const Topology& topology);

}  // namespace espalier
