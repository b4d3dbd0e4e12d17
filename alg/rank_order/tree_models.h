// The three statements of the double binary tree's cost model.
#pragma once

#include <vector>

#include "alg/generators/rank_shapes.h"
#include "alg/rank_order/order_model.h"

namespace espalier {

// The trees that the generator builds (alg/generators/rank_shapes.h).
[[nodiscard]] TreeModel model_of_tree(const RankTree& tree, Bytes bytes);

// T(0, N-1): the root of a segment is its middle, its children the middles of both sides; an empty
// side costs nothing. The second tree is the first with every rank decremented.
[[nodiscard]] std::vector<TreeModel> midpoint_trees(std::size_t ranks, Bytes bytes);

// The same with the children as printed, (3i+j)/2 - 1 and (i+3j)/2 + 1, modulo the ranks; a side's
// edge counts even where the side is empty.
[[nodiscard]] std::vector<TreeModel> printed_trees(std::size_t ranks, Bytes bytes);

}  // namespace espalier
