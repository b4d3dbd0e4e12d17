// The algorithms of multi-dimensional systems. They make a plan, whose stages the NIs run, instead
// of a schedule of transfers.
#pragma once

#include <string>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/order_forecast.h"
#include "alg/plans/stage_arbiter.h"
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
  // In which dimension queues start chunks unless the configuration names an order.
  QueueOrder queue_order = QueueOrder::scf;
  // The plan is the fastest of the other planners' (fastest_plans); `plan` has the baseline's
  // orders.
  bool chooses = false;
};

struct ForecastPlan {
  DimensionPlan plan;  // with its start_order
  Cycle forecast = 0;  // cycles that the pre-simulation expects
  std::string choice;  // of auto: whose plan was taken and why, as a sentence
  std::string taken;   // of auto: the planner whose plan was taken
};

// Every chunk's order of dimensions and every dimension's order of starts, found by search over the
// pre-simulation (docs/themis.md), for the chunks of `plan`. Candidates are the orders of `known`,
// and one that fills the dimensions evenly chunk by chunk, each with every rule of the queues;
// simulated annealing goes on from the best three. Deterministic: the same arguments give the same
// plan. In the pre-simulation never slower than any of `known` with the queue rule of `spec`.
//
// Preconditions: as for forecast_order(); the plans of `known` have the dimensions, chunks and
// operation of `plan`.
[[nodiscard]] ForecastPlan search_plan(DimensionPlan plan, const std::vector<DimensionPlan>& known,
                                       const ForecastSpec& spec);

// The planner's plan with its order of starts and the time that the pre-simulation expects. `spec`
// describes the links and NIs of `dimensions`, in the same order.
[[nodiscard]] ForecastPlan forecast_plan(const Planner& planner,
                                         const std::vector<PlannedDimension>& dimensions,
                                         PlanRequest request, const ForecastSpec& spec);

// The plans of the planners that choose nothing themselves, least forecast first; equal forecasts
// are in the order of the registry. `keeps_order`: NPUs keep to the order of starts; otherwise
// planners that search do not take part. Preconditions: as for forecast_plan().
[[nodiscard]] std::vector<ForecastPlan> fastest_plans(
    const std::vector<PlannedDimension>& dimensions, const PlanRequest& request,
    const ForecastSpec& spec, bool keeps_order);

// In the order in which users see them.
[[nodiscard]] const std::vector<Planner>& planners();
// Returns nullptr if no planner has that name.
[[nodiscard]] const Planner* find_planner(const std::string& name);

// See Generator::unsuited. The answer is the same for every planner.
[[nodiscard]] std::string unsuited_for_planners(const Topology& topology);

}  // namespace espalier
