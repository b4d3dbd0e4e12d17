// The algorithms of multi-dimensional systems. They make a plan, whose stages the NIs run, instead
// of a schedule of transfers.
#pragma once

#include <string>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/plan_search.h"
#include "alg/schedule/algorithm_row.h"
#include "hw/topology/topology.h"

namespace espalier {

struct Planner : AlgorithmRow {
  // Precondition: ops contains request.op.
  DimensionPlan (*plan)(const std::vector<PlannedDimension>& dimensions,
                        const PlanRequest& request) = nullptr;
  // The orders of `plan` are where a search over the pre-simulation begins. NPUs then have to keep
  // to the order of starts that it finds.
  bool searches = false;
};

// The planner's plan with its order of starts and the time that the pre-simulation expects.
// `request` and `dimensions` as for Planner::plan; `spec` has the timing of these dimensions.
[[nodiscard]] ForecastPlan forecast_plan(const Planner& planner,
                                         const std::vector<PlannedDimension>& dimensions,
                                         PlanRequest request, const ForecastSpec& spec);

// In the order in which users see them.
[[nodiscard]] const std::vector<Planner>& planners();
// Returns nullptr if no planner has that name.
[[nodiscard]] const Planner* find_planner(const std::string& name);

// See Generator::unsuited. The answer is the same for every planner.
[[nodiscard]] std::string unsuited_for_planners(const Topology& topology);

}  // namespace espalier
