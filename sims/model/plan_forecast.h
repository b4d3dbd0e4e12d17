// What a configuration says to the pre-simulation of plans, whether a plan loses, and when one NPU
// of a multi-dimensional system can stand for all of them.
#pragma once

#include <optional>
#include <string>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/order_forecast.h"
#include "alg/plans/planner.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/topology.h"

namespace espalier {

struct RunPoint;

// The planner of the point's algorithm; nullptr if the point runs a schedule or a program.
// Precondition: point.collective.
[[nodiscard]] const Planner* planner_of(const RunPoint& point);

// How the point's dimension queues choose. Without an order in the configuration, as its planner
// does; smallest chunk first without a planner.
[[nodiscard]] ArbiterSpec arbiter_spec(const RunPoint& point);

// The properties of the point's system that the pre-simulation needs.
[[nodiscard]] ForecastSpec forecast_spec(const Topology& topology, const RunPoint& point,
                                         const std::vector<PlannedDimension>& planned);

// The time for which a plan's most loaded dimension is busy, without latencies.
struct PlanLoad {
  std::uint32_t dimension = 0;
  std::uint64_t femtoseconds = 0;  // of an all_reduce: both halves
};

// A plan that predicts more time than the baseline's plan.
struct PlanLoss {
  PlanLoad baseline;
  PlanLoad plan;
  // The first number of chunks, in doublings of the point's, with which the pre-simulation expects
  // less time than for the baseline with the point's number; 0: none, up to `most_tried`.
  std::uint32_t better_chunks = 0;
  std::uint32_t most_tried = 0;
  Cycle better_forecast = 0;  // with better_chunks
  Cycle baseline_forecast = 0;
};

// Compares the loads that the point's planner and the baseline predict; empty if the planner's load
// is at most a hundredth larger. Precondition: the point's algorithm is a planner,
// topology.dimensions().
[[nodiscard]] std::optional<PlanLoss> plan_loss(const Topology& topology, const RunPoint& point);

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
