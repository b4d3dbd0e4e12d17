// A collective on a multi-dimensional system: its plan, with the time that a planner expects.
#pragma once

#include <vector>

#include "alg/certify/certifier.h"
#include "alg/plans/dimension_plan.h"
#include "alg/plans/planner.h"
#include "hw/topology/topology.h"
#include "sims/experiment/choices.h"

namespace espalier {

struct RunPoint;

// The plan has its start_order where the point enforces one. Precondition of all: the point's
// algorithm is a planner, topology.dimensions().
//
// `algorithm: auto`: the fastest of the planners' plans. Where the second one's forecast is near
// the first one's, both are simulated as by generate_tables(), and `choice` says what decided.
[[nodiscard]] ForecastPlan plan_point(const Topology& topology, const RunPoint& point,
                                      const Choices& choices = Choices());
[[nodiscard]] std::vector<Violation> certify_plan(const RunPoint& point, const DimensionPlan& plan);

}  // namespace espalier
