// The cost of a ring. A move of a whole segment is priced by the hops at its ends.
#pragma once

#include "alg/rank_order/order_cost.h"

namespace espalier {

class RingCost : public OrderCost {
 public:
  RingCost(const CostModel& model, const CostMatrix& costs);

  void reset(const RankOrder& order) override;
  void change(const std::vector<RankChange>& changes) override;
  [[nodiscard]] Cost cost() const override { return is_max_ ? max_ : sum_; }
  [[nodiscard]] double guide() const override { return guide_of(sum_, max_); }

  // The guide after a reversal of ranks first .. last (2-opt). Precondition: first <= last.
  [[nodiscard]] double guide_of_reversal(std::size_t first, std::size_t last) const;
  void reverse(std::size_t first, std::size_t last);
  // The guide after a move of the segment first .. last behind rank `behind`, which is outside of
  // it (Or-opt).
  [[nodiscard]] double guide_of_shift(std::size_t first, std::size_t last,
                                      std::size_t behind) const;
  void shift(std::size_t first, std::size_t last, std::size_t behind);

 private:
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
  // The guide without the hops from the ranks in `removed` and with hops of the costs in `added`.
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
};

}  // namespace espalier
