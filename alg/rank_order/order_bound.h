// What no order can be cheaper than.
#pragma once

#include <string>

#include "alg/rank_order/order_model.h"

namespace espalier {

struct OrderBound {
  Cost cost = 0;
  std::string kind;  // what it follows from, for the user
};

// Ring, sum: a 1-tree whose nodes' penalties are climbed (Held and Karp, 1970). Ring, max: the
// lowest threshold that leaves every node two hops and the network without a cut node. Rounds:
// every rank has other partners in every round, so that the k cheapest rounds together need a
// degree, and connected parts of a size, at their largest cost. Trees: the deepest ways, as walks.
// Load: every rank's partners are nodes of their own, at best the nearest.
[[nodiscard]] OrderBound order_bound(const CostModel& model, const CostMatrix& costs);

}  // namespace espalier
