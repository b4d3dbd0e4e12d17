// When one NPU of a multi-dimensional system can stand for all of them.
#pragma once

#include <string>

#include "alg/plans/dimension_plan.h"
#include "hw/topology/dimensions.h"

namespace espalier {

struct RunPoint;

// In a foldable system, all NPUs execute the same program on a network that looks the same from
// each of them: a ring rotated by one position, or a fully connected or switched group with renamed
// NPUs (halving-doubling: coordinates with a bit flipped), is the same network. The NPUs therefore
// do the same in every cycle, and each switch port carries the messages of one NPU. A single NPU
// whose links lead back to itself then behaves as each of them, in both fidelities. This needs
// equal parts for all NPUs, and nothing that distinguishes a node or a link. Returns the obstacle
// as a text for the user; empty if the system can be folded.
[[nodiscard]] std::string folding_obstacle(const RunPoint& point, const DimensionPlan& plan,
                                           const DimensionedShape& shape);
// The same for a point that has no plan yet. Precondition: the point's algorithm is a planner.
[[nodiscard]] std::string folding_obstacle(const RunPoint& point, const DimensionedShape& shape);

}  // namespace espalier
