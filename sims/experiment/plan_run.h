// A collective on a multi-dimensional system: its plan, with the time that a planner expects.
#pragma once

#include <vector>

#include "alg/certify/certifier.h"
#include "alg/plans/dimension_plan.h"
#include "alg/plans/order_forecast.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier {

struct ForecastPlan {
  DimensionPlan plan;  // with its start_order, where the point enforces one
  Cycle forecast = 0;  // cycles that the pre-simulation expects
};

// Precondition of both: the point's algorithm is a planner, topology.dimensions().
[[nodiscard]] ForecastPlan plan_point(const Topology& topology, const RunPoint& point);
[[nodiscard]] std::vector<Violation> certify_plan(const RunPoint& point, const DimensionPlan& plan);

}  // namespace espalier
