// Certifies a dimension plan by composition: every dimension's algorithm is proven on one group of
// the dimension, and a chunk that visits every dimension once is reduced (or gathered) over the
// product of the groups.
#pragma once

#include <vector>

#include "alg/certify/certifier.h"
#include "alg/plans/dimension_plan.h"

namespace espalier {

// Proves, with the entry named where it fails:
//   form           - sizes, chunks cover the collective, stages name dimensions that exist, an
//                    algorithm fits its dimension (halving_doubling: a power of two);
//   postcondition  - each chunk has exactly the stages of its collective, each dimension once per
//                    kind, all reduce_scatters before all all_gathers, the latter in reverse order;
//                    and each dimension's steps bring every block together exactly once from every
//                    NPU (multisets), and to every NPU;
//   data order     - no step sends a block that its NPU does not hold complete at that step;
//   deadlock       - start_order (where given) names every stage exactly once, and the order of
//                    starts together with the order of each chunk's stages has no cycle, with
//                    `in_flight` stages at once in a dimension. A cycle is named.
// A start_order that names a missing stage, or a stage of another dimension, is malformed; a
// malformed plan is not judged further. Chunks, stages and starts are named by their index,
// dimensions as in the paper, from dim1. Dimensions of more than 4096 NPUs are refused, as a proof
// takes time in proportion to the square (a third of a second for a ring of 1024).
[[nodiscard]] std::vector<Violation> certify_dimension_plan(const DimensionPlan& plan,
                                                            std::uint32_t in_flight);

}  // namespace espalier
