// A lower bound of the cost of every order, and small networks' proven orders.
#pragma once

#include <optional>

#include "alg/rank_order/order_search.h"

namespace espalier {

// A cost is the sum, over all latencies t, of the weight of what takes longer than t: messages
// (ring, load), rounds, or hops of a tree's path. Pairs of nodes within t connect the nodes to
// parts. A message takes longer than t if it leaves its part, or if its rank has more partners than
// its node has near nodes. A round stays within t if each of its ranks has that many near nodes;
// several rounds of a cube also need parts whose sizes are multiples of theirs.
[[nodiscard]] Cost order_bound(const CostModel& model, const CostMatrix& costs);

// Partial orders that exact_order() prices before it gives up.
inline constexpr std::uint64_t kMostPartialOrders = 20'000'000;

// The best or worst order, by branch and bound. Ranks are assigned to nodes one after the other,
// and partial orders that cannot beat the best known order are cut off. Returns `known` if no order
// is better, and nothing if there are too many partial orders.
[[nodiscard]] std::optional<FoundOrder> exact_order(const CostModel& model, const CostMatrix& costs,
                                                    OrderDirection direction, FoundOrder known);
// Searches the known order first.
[[nodiscard]] std::optional<FoundOrder> exact_order(const CostModel& model, const CostMatrix& costs,
                                                    OrderDirection direction);

}  // namespace espalier
