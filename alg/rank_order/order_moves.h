// The neighbours of an order: swaps of two ranks and permutations of a random sub-array (Cloud
// Collectives, section IV-C). For a ring also 2-opt and Or-opt, which keep most of its hops.
#pragma once

#include <vector>

#include "alg/rank_order/order_cost.h"
#include "alg/rank_order/permutation.h"
#include "alg/rank_order/ring_cost.h"

namespace espalier {

// One move at a time: it is proposed and priced, then accepted or rejected.
class OrderMoves {
 public:
  // `cost` must outlive this object and have an order of at least two ranks.
  OrderMoves(OrderCost& cost, RandomSource& random);

  // The guide of the order after a random move.
  [[nodiscard]] double propose();
  void accept();
  void reject();

  // Proposes one given swap. Precondition: a != b.
  [[nodiscard]] double propose_swap(std::uint32_t a, std::uint32_t b);

 private:
  enum class Pending : std::uint8_t { nothing, changed, reversal, shift };

  [[nodiscard]] double propose_reversal();
  [[nodiscard]] double propose_shift();
  [[nodiscard]] double propose_permutation();
  [[nodiscard]] double propose_block_swap();
  [[nodiscard]] double apply_changes();

  OrderCost& cost_;
  RingCost* ring_;  // nullptr: the model is not a ring
  RandomSource& random_;
  std::uint32_t ranks_;
  Pending pending_ = Pending::nothing;
  std::vector<RankChange> changes_;
  std::uint32_t first_ = 0;  // segment of a reversal or a shift
  std::uint32_t last_ = 0;
  std::uint32_t behind_ = 0;
};

}  // namespace espalier
