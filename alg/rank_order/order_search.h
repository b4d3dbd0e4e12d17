// The search for an order of ranks by simulated annealing, with a budget of priced orders. The same
// seed gives the same result on every machine.
#pragma once

#include <cstdint>
#include <functional>

#include "alg/rank_order/order_cost.h"
#include "alg/rank_order/permutation.h"

namespace espalier {

// Called at intervals with the used share of the budget, 0 to 1.
using SearchProgress = std::function<void(double)>;

struct FoundOrder {
  RankOrder order;
  Cost cost = 0;
  std::uint64_t evaluations = 0;
};

// The best or worst order priced in a search according to `spec`; with a budget of one, the start.
// Precondition: there are as many nodes as ranks in the model.
[[nodiscard]] FoundOrder search_order(const CostModel& model, const CostMatrix& costs,
                                      const OrderSearchSpec& spec,
                                      const SearchProgress& progress = {});

// An order with near nodes beside each other. The nearest clusters are joined first (single
// linkage), so that the nearest ends of their chains meet. Ties go to the lower node.
[[nodiscard]] RankOrder clustered_order(const CostMatrix& costs);

// The better of clustered_order and the same order with the digits of its places reversed. Reversed
// is better if the most bytes go the farthest in ranks.
[[nodiscard]] RankOrder clustered_start(const CostModel& model, const CostMatrix& costs,
                                        OrderDirection direction);

// Exponentially distributed with mean 1, within 9 %. The logarithm is linear between powers of two,
// so the value is the same on every machine.
[[nodiscard]] double exponential(std::uint64_t random_bits);

// An order of about the given cost, to compare a model with measurements over its whole range (Luo
// et al., section V-B). Swaps pairs of ranks drawn by `seed` as long as that brings the cost
// nearer, until it is within 0.5 % or many draws in a row bring nothing.
[[nodiscard]] RankOrder order_of_cost(RankOrder start, double cost, std::uint64_t seed,
                                      const std::function<double(const RankOrder&)>& cost_of);

}  // namespace espalier
