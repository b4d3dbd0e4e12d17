// The cost of an order that changes step by step. A step is priced from the parts that it changes.
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

  // Prices the whole order.
  virtual void reset(const RankOrder& order) = 0;
  // The listed ranks exchange their nodes. Each rank is listed once.
  virtual void change(const std::vector<RankChange>& changes) = 0;
  // Takes back the last change; only once. Costs are whole numbers, so the way back restores them.
  void undo() { change(std::vector<RankChange>(old_nodes_)); }

  // full_cost() of the order.
  [[nodiscard]] virtual Cost cost() const = 0;
  // The value that a search compares: the cost, and a small share of the parts below the maximum.
  // Orders of different quality can have the same slowest pairs (the flat landscape of section
  // V-C).
  [[nodiscard]] virtual double guide() const = 0;

  [[nodiscard]] const RankOrder& order() const { return order_; }
  // CostModel::places.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& places() const { return places_; }

 protected:
  void place(const std::vector<RankChange>& changes) {
    old_nodes_.clear();
    for (const RankChange& c : changes) {
      old_nodes_.push_back({c.rank, order_[c.rank]});
      order_[c.rank] = c.node;
    }
  }
  void place_all(const RankOrder& order) {
    order_ = order;
    old_nodes_.clear();
  }

  RankOrder order_;

 private:
  std::vector<RankChange> old_nodes_;  // before the last change
  std::vector<std::vector<std::uint32_t>> places_;
};

// Share of the guide for the parts below the maximum.
inline constexpr double kGuideShare = 0.1;

// `model` and `costs` must outlive the result.
[[nodiscard]] std::unique_ptr<OrderCost> make_order_cost(const CostModel& model,
                                                         const CostMatrix& costs);

}  // namespace espalier
