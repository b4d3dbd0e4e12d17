// The cost of rounds: their slowest pairs, or all messages.
#pragma once

#include "alg/rank_order/order_cost.h"

namespace espalier {

class RoundsCost : public OrderCost {
 public:
  RoundsCost(const CostModel& model, const CostMatrix& costs);

  void reset(const RankOrder& order) override;
  void change(const std::vector<RankChange>& changes) override;
  void undo() override;
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double guide() const override;

 private:
  struct Pair {
    RankPair ranks;
    std::uint32_t round = 0;
  };
  struct Round {
    Bytes bytes = 0;
    std::size_t begin = 0;  // pairs [begin, end)
    std::size_t end = 0;
    Cost max = 0;
    Cost sum = 0;
  };
  struct OldPair {
    std::uint32_t pair;
    Cost cost;
  };

  void set_pair(std::uint32_t pair);
  [[nodiscard]] Cost cost_of(const Pair& pair) const {
    return costs_.cost(order_[pair.ranks.a], order_[pair.ranks.b], rounds_[pair.round].bytes);
  }

  const CostMatrix& costs_;
  bool is_load_;
  std::vector<Round> rounds_;
  std::vector<Pair> pairs_;                     // round by round
  std::vector<Cost> pair_costs_;                // by pair
  std::vector<std::vector<std::uint32_t>> of_;  // by rank: its pairs
  std::vector<bool> lost_max_;                  // by round, of the change being made
  // Of the last change.
  std::vector<RankChange> old_nodes_;
  std::vector<OldPair> old_pairs_;
  std::vector<Round> old_rounds_;
};

}  // namespace espalier
