// Lower bounds of the cost of every order.
#pragma once

#include <string>

#include "alg/rank_order/order_model.h"

namespace espalier {

struct OrderBound {
  Cost cost = 0;
  std::string kind;  // name of its derivation, for the user
};

// Ring, sum: a 1-tree whose node penalties are raised by subgradient steps (Held and Karp, 1970).
// Ring, max: the lowest threshold whose hops form a network without a cut node. Rounds: every rank
// has new partners in every round, so the hops up to the largest cost of k rounds must give each
// node a minimum degree and each connected part a minimum size. Trees: walks of the trees' depths.
// Load: the partners of a rank are different nodes, at best the nearest ones.
[[nodiscard]] OrderBound order_bound(const CostModel& model, const CostMatrix& costs);

// The bounds of the kinds of models, for order_bound(). `hops` are the costs of all pairs, in rows.

[[nodiscard]] Cost one_tree_bound(const std::vector<Cost>& hops, std::size_t nodes);
[[nodiscard]] Cost bottleneck_ring_bound(const std::vector<Cost>& hops, std::size_t nodes);
[[nodiscard]] Cost rounds_bound(const CostModel& model, const CostMatrix& costs);
[[nodiscard]] Cost load_bound(const CostModel& model, const CostMatrix& costs);
[[nodiscard]] Cost trees_bound(const CostModel& model, const CostMatrix& costs);

}  // namespace espalier
