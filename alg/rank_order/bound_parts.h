// The bounds of order_bound.h, one for each kind of model. `hops` are the costs of all pairs, in
// rows. Internal to order_bound.cpp.
#pragma once

#include "alg/rank_order/order_model.h"

namespace espalier {

[[nodiscard]] Cost one_tree_bound(const std::vector<Cost>& hops, std::size_t nodes);
[[nodiscard]] Cost bottleneck_ring_bound(const std::vector<Cost>& hops, std::size_t nodes);
[[nodiscard]] Cost rounds_bound(const CostModel& model, const CostMatrix& costs);
[[nodiscard]] Cost load_bound(const CostModel& model, const CostMatrix& costs);
[[nodiscard]] Cost trees_bound(const CostModel& model, const CostMatrix& costs);

}  // namespace espalier
