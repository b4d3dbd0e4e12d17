// The search for an order of ranks by simulated annealing, with a budget of priced orders. The same
// seed gives the same result on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "alg/rank_order/order_cost.h"
#include "alg/rank_order/permutation.h"

namespace espalier {

// Called at intervals with the used share of the budget, 0 to 1. The search ends with the best
// order so far if it returns false.
using SearchProgress = std::function<bool(double)>;

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
