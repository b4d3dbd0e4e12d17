// Orders that are proven optimal: small rings by dynamic programming (Held and Karp, 1962;
// Bellman), small networks of any model by branch and bound.
#pragma once

#include <optional>

#include "alg/rank_order/order_search.h"

namespace espalier {

inline constexpr std::size_t kMostHeldKarpRanks = 16;  // 2^15 * 15 subsets: 4 MiB of costs
inline constexpr std::size_t kMostBranchedRanks = 12;

// The best, or the worst, order; of several the first that is found. Nothing where the model has
// more ranks than `most_ranks` or than can be solved within kMostPartialOrders.
[[nodiscard]] std::optional<FoundOrder> exact_order(const CostModel& model, const CostMatrix& costs,
                                                    OrderDirection direction,
                                                    std::size_t most_ranks);

}  // namespace espalier
