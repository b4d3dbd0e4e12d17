// The cost of an order that changes a little at a time.
#pragma once

#include <memory>
#include <vector>

#include "alg/rank_order/order_model.h"

namespace espalier {

struct RankChange {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
};

class OrderCost {
 public:
  explicit OrderCost(const CostModel& model) : places_(model.places) {}
  virtual ~OrderCost() = default;
  OrderCost(const OrderCost&) = delete;
  OrderCost& operator=(const OrderCost&) = delete;

  // Everything anew.
  virtual void reset(const RankOrder& order) = 0;
  // These ranks get these nodes, each rank once, and the nodes are those that the ranks had.
  virtual void change(const std::vector<RankChange>& changes) = 0;
  // Takes the last change back, once.
  virtual void undo() = 0;

  // full_cost of the order.
  [[nodiscard]] virtual Cost cost() const = 0;
  // What a search compares: the cost, and a little of what does not reach it, since orders of
  // different promise have the same slowest pairs (the flat landscape of section V-C).
  [[nodiscard]] virtual double guide() const = 0;

  [[nodiscard]] const RankOrder& order() const { return order_; }
  // CostModel::places.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& places() const { return places_; }

 protected:
  RankOrder order_;

 private:
  std::vector<std::vector<std::uint32_t>> places_;
};

// Of what stays below the slowest pair.
inline constexpr double kGuideShare = 0.1;

// Both outlive the result.
[[nodiscard]] std::unique_ptr<OrderCost> make_order_cost(const CostModel& model,
                                                         const CostMatrix& costs);

}  // namespace espalier
