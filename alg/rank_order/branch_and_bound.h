// The best, or the worst, order of any model by branch and bound: ranks get their nodes one after
// the other, and what can no longer be better than what is known is cut off.
#pragma once

#include <optional>

#include "alg/rank_order/order_search.h"

namespace espalier {

// Nodes of the tree of partial orders that are priced before it gives up: it is a proof or nothing.
inline constexpr std::uint64_t kMostPartialOrders = 20'000'000;

// `known` is an order to be better than. Returns it where nothing is; nothing where the tree is too
// large.
[[nodiscard]] std::optional<FoundOrder> branch_and_bound(const CostModel& model,
                                                         const CostMatrix& costs,
                                                         OrderDirection direction,
                                                         const FoundOrder& known);

}  // namespace espalier
