// The cost of a ring, whose moves of whole segments are priced by the hops at their ends.
#pragma once

#include "alg/rank_order/order_cost.h"

namespace espalier {

class RingCost : public OrderCost {
 public:
  RingCost(const CostModel& model, const CostMatrix& costs);

  void reset(const RankOrder& order) override;
  void change(const std::vector<RankChange>& changes) override;
  void undo() override;
  [[nodiscard]] Cost cost() const override { return is_max_ ? max_ : sum_; }
  [[nodiscard]] double guide() const override { return guide_of(sum_, max_); }

  // The guide if ranks first .. last, first <= last, were reversed (2-opt).
  [[nodiscard]] double guide_of_reversal(std::size_t first, std::size_t last) const;
  void reverse(std::size_t first, std::size_t last);
  // The guide if the segment first .. last moved behind rank `behind`, outside of it (Or-opt).
  [[nodiscard]] double guide_of_shift(std::size_t first, std::size_t last,
                                      std::size_t behind) const;
  void shift(std::size_t first, std::size_t last, std::size_t behind);

 private:
  struct Hop {
    std::size_t rank;
    Cost cost;
  };

  [[nodiscard]] std::size_t next(std::size_t rank) const {
    return rank + 1 == order_.size() ? 0 : rank + 1;
  }
  [[nodiscard]] std::size_t previous(std::size_t rank) const {
    return rank == 0 ? order_.size() - 1 : rank - 1;
  }
  [[nodiscard]] Cost between(std::size_t a, std::size_t b) const {
    return costs_.cost(order_[a], order_[b], bytes_);
  }
  [[nodiscard]] double guide_of(Cost sum, Cost max) const;
  // The guide without the hops from these ranks and with hops of these costs.
  [[nodiscard]] double guide_with(const std::vector<std::size_t>& removed,
                                  const std::vector<Cost>& added) const;
  void set_hop(std::size_t rank);
  void find_max();

  const CostMatrix& costs_;
  Bytes bytes_;
  bool is_max_;
  std::vector<Cost> hops_;  // from rank r to r + 1
  Cost sum_ = 0;
  Cost max_ = 0;
  // Of the last change.
  std::vector<RankChange> old_nodes_;
  std::vector<Hop> old_hops_;
  Cost old_max_ = 0;
};

}  // namespace espalier
