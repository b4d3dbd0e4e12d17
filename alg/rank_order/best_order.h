// The best, or the worst, of the orders that a search passes.
#pragma once

#include <utility>

#include "alg/rank_order/order_search.h"

namespace espalier {

class BestOrder {
 public:
  explicit BestOrder(OrderDirection direction) : worst_(direction == OrderDirection::worst) {}

  // Guides count as energies: a search for the worst goes the other way.
  [[nodiscard]] double energy(double guide) const { return worst_ ? -guide : guide; }

  // An order has been priced. It is copied only where it is better.
  void offer(const OrderCost& cost) {
    const Cost now = cost.cost();
    if (!found_.order.empty() && (worst_ ? now <= found_.cost : now >= found_.cost)) return;
    found_.order = cost.order();
    found_.cost = now;
  }
  void count(std::uint64_t evaluations) { found_.evaluations += evaluations; }
  [[nodiscard]] FoundOrder take() { return std::move(found_); }

 private:
  bool worst_;
  FoundOrder found_;
};

}  // namespace espalier
