// Orders of dimensions found by search over the pre-simulation, instead of by load alone
// (themis_search, docs/themis.md). The pre-simulation has the timing of the modelled NI and links,
// so a plan is judged by what costs time there: latency of steps, places in flight, and the order
// in which stages start. Algorithm 1 of Themis sees bandwidth only.
#pragma once

#include "alg/plans/order_forecast.h"

namespace espalier {

struct ForecastPlan {
  DimensionPlan plan;  // with its start_order
  Cycle forecast = 0;  // cycles that the pre-simulation expects
};

// Every chunk's order of dimensions and every dimension's order of starts, for the chunks of
// `plan`. Candidates are the orders of `known`, and one that fills the dimensions evenly chunk by
// chunk, each with every rule of the queues; simulated annealing goes on from the best three.
// Deterministic: the same arguments give the same plan. In the pre-simulation never slower than any
// of `known` with the queue rule of `spec`.
//
// Preconditions: those of forecast_order(); the plans of `known` have the dimensions, chunks and
// operation of `plan`.
[[nodiscard]] ForecastPlan search_plan(DimensionPlan plan, const std::vector<DimensionPlan>& known,
                                       const ForecastSpec& spec);

}  // namespace espalier
