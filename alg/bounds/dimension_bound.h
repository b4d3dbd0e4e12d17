// Proven lower bounds for multi-dimensional systems (see alg/bounds/bounds.h), in closed form.
#pragma once

#include "alg/bounds/bounds.h"
#include "alg/plans/dimension_plan.h"
#include "hw/topology/topology.h"

namespace espalier {

// For every subset T of the dimensions, cut all links of T. The system falls into p parts, p =
// product of P_K over K in T, with a rate of N * sum of B_K over T between them.
//   all_reduce:                  2 (p-1) size / (N * sum B_K)
//   reduce_scatter, all_gather:  (p-1) size / (N * sum B_K)
// (Each element leaves p-1 parts until one part has the sum, and then enters p-1 parts.) If a
// dimension in T reduces and multicasts in its switches (in_network), every part of an all_reduce
// still sends each element at least once: p size / (N * sum B_K). A link of dimension K is of use
// only until A_K before the end, its latency to the next NPU:
//   time >= (bytes of an NPU + sum of B_K A_K) / sum of B_K
// This is Themis' bound, with the latency of one step in place of all steps, and it holds for any
// schedule. The bound is the largest value over all T, and over the balls around an NPU (bounds.h).
// Precondition: topology.dimensions(), not folded.
[[nodiscard]] CollectiveBound dimension_bound(const Topology& topology, const DimensionPlan& plan);

}  // namespace espalier
