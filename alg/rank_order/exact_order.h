// Orders that are proven optimal: small rings by dynamic programming (Held and Karp, 1962;
// Bellman), small networks of any model by branch and bound.
#pragma once

#include <optional>

#include "alg/rank_order/order_search.h"

namespace espalier {

// Partial orders that branch and bound prices before it gives up.
inline constexpr std::uint64_t kMostPartialOrders = 20'000'000;

// The best or worst order of any model. Ranks are assigned to nodes one after the other, and
// partial orders that cannot beat the best known order are cut off. Returns `known` if it is
// optimal, and nothing if the tree of partial orders is too large.
[[nodiscard]] std::optional<FoundOrder> branch_and_bound(const CostModel& model,
                                                         const CostMatrix& costs,
                                                         OrderDirection direction,
                                                         const FoundOrder& known);

inline constexpr std::size_t kMostHeldKarpRanks = 16;  // 2^15 * 15 subsets: 4 MiB of costs
inline constexpr std::size_t kMostBranchedRanks = 12;

// The best or worst order; of several, the first one found. Returns nothing if the model has more
// ranks than `most_ranks`, or needs more than kMostPartialOrders.
[[nodiscard]] std::optional<FoundOrder> exact_order(const CostModel& model, const CostMatrix& costs,
                                                    OrderDirection direction,
                                                    std::size_t most_ranks);

}  // namespace espalier
