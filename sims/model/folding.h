// When one NPU of a multi-dimensional system can stand for all of them.
#pragma once

#include <string>

#include "alg/plans/dimension_plan.h"
#include "hw/topology/dimensions.h"
#include "sims/point/config.h"

namespace espalier {

// All NPUs run the same program on the same network, seen from each of them alike: a ring turned by
// one, a fully connected group or a switch's with its NPUs renamed (halving-doubling: coordinates
// with a bit flipped) is itself. So they do the same in every cycle, each switch port carries in
// every cycle what one NPU sends, and a single NPU whose links lead back to it does what each of
// them does, in both fidelities. That takes equal parts for all, and nothing that singles out a
// node or a link. What stands against it, for the user; empty where nothing does.
[[nodiscard]] std::string folding_obstacle(const RunPoint& point, const DimensionPlan& plan,
                                           const DimensionedShape& shape);
// The same, of a point that has no plan yet. Precondition: its algorithm is a planner.
[[nodiscard]] std::string folding_obstacle(const RunPoint& point, const DimensionedShape& shape);

}  // namespace espalier
