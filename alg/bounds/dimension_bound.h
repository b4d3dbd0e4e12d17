// Proven lower bounds for multi-dimensional systems (see alg/bounds/bounds.h), in closed form.
#pragma once

#include "alg/bounds/bounds.h"
#include "alg/plans/dimension_plan.h"
#include "hw/topology/dimensions.h"

namespace espalier {

// For every subset T of the dimensions, cut all links of T: the system falls into p = product of
// P_K, K in T, parts that have nothing but those links, N * sum of B_K over T, between them.
//   all_reduce:                  2 (p-1) size / (N * sum B_K)
//   reduce_scatter, all_gather:  (p-1) size / (N * sum B_K)
// (each element leaves p-1 parts until one has the sum, and enters p-1 parts from there). The
// largest over all T binds. Where a dimension in T adds and copies in its switches (in_network), an
// all_reduce still has every part send each element at least once: p size / (N * sum B_K).
// Latency: the farthest pair, dimension by dimension, link latencies only.
[[nodiscard]] CollectiveBound dimension_bound(const DimensionedShape& shape,
                                              const DimensionPlan& plan);

}  // namespace espalier
