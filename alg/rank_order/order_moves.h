// The neighbours of an order (Cloud Collectives, section IV-C: swap two, permute a random
// sub-array), and of a ring those that keep most of its hops: 2-opt and Or-opt.
#pragma once

#include <vector>

#include "alg/rank_order/order_cost.h"
#include "alg/rank_order/random_source.h"
#include "alg/rank_order/ring_cost.h"

namespace espalier {

// One move at a time: proposed and priced, then taken or not.
class OrderMoves {
 public:
  // `cost` outlives this object and has an order of at least two ranks.
  OrderMoves(OrderCost& cost, RandomSource& random);

  // The guide of the order after a random move.
  [[nodiscard]] double propose();
  // The proposed move becomes part of the order.
  void accept();
  // It does not.
  void reject();

  // The same for one given swap; ranks differ.
  [[nodiscard]] double propose_swap(std::uint32_t a, std::uint32_t b);

 private:
  enum class Pending : std::uint8_t { nothing, changed, reversal, shift };

  [[nodiscard]] double propose_reversal();
  [[nodiscard]] double propose_shift();
  [[nodiscard]] double propose_permutation();
  [[nodiscard]] double propose_block_swap();
  [[nodiscard]] double apply_changes();

  OrderCost& cost_;
  RingCost* ring_;  // nullptr: the model is no ring
  RandomSource& random_;
  std::uint32_t ranks_;
  Pending pending_ = Pending::nothing;
  std::vector<RankChange> changes_;
  std::uint32_t first_ = 0;  // of the segment
  std::uint32_t last_ = 0;
  std::uint32_t behind_ = 0;
};

}  // namespace espalier
