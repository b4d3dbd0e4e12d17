// The search for an order of ranks: simulated annealing or tabu search with a budget of orders that
// are priced, the same for the same seed everywhere.
#pragma once

#include <functional>

#include "alg/rank_order/order_cost.h"

namespace espalier {

// Part of the budget that is used, 0 to 1; called now and then.
using SearchProgress = std::function<void(double)>;

struct FoundOrder {
  RankOrder order;
  Cost cost = 0;
  std::uint64_t evaluations = 0;
};

// The best order that was priced, or the worst, as `spec` says; with a budget of one the start
// itself. Precondition: as many nodes as the model has ranks.
[[nodiscard]] FoundOrder search_order(const CostModel& model, const CostMatrix& costs,
                                      const OrderSearchSpec& spec,
                                      const SearchProgress& progress = {});

// Near nodes beside each other: clusters are joined nearest first (single linkage), the two chains
// turned so that their nearest ends meet; ties go to the lower node.
[[nodiscard]] RankOrder clustered_order(const CostMatrix& costs);

// That order, or the one in which its places are ranks with their digits reversed, whichever the
// model prices lower, or higher: where the most bytes go the farthest in ranks, near nodes belong
// far apart.
[[nodiscard]] RankOrder clustered_start(const CostModel& model, const CostMatrix& costs,
                                        OrderDirection direction);

}  // namespace espalier
