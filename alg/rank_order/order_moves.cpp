#include "alg/rank_order/order_moves.h"

#include <algorithm>
#include <utility>

namespace espalier {

namespace {
constexpr std::uint32_t kPercent = 100;
constexpr std::uint32_t kLongestPermuted = 6;
constexpr std::uint32_t kLongestShifted = 8;
constexpr std::uint32_t kLargestBlockBits = 5;
}  // namespace

OrderMoves::OrderMoves(OrderCost& cost, RandomSource& random)
    : cost_(cost),
      ring_(dynamic_cast<RingCost*>(&cost)),
      random_(random),
      ranks_(static_cast<std::uint32_t>(cost.order().size())) {}

double OrderMoves::propose() {
  const std::uint32_t kind = random_.below(kPercent);
  if (ring_ != nullptr && ranks_ > 3) {
    if (kind < 45) return propose_reversal();
    if (kind < 80) return propose_shift();
  } else if (kind < 10 && ranks_ >= 4) {
    return propose_block_swap();
  }
  if (kind >= 90) return propose_permutation();
  const std::uint32_t a = random_.below(ranks_);
  const std::uint32_t b = (a + 1 + random_.below(ranks_ - 1)) % ranks_;
  return propose_swap(a, b);
}

double OrderMoves::propose_swap(std::uint32_t a, std::uint32_t b) {
  changes_ = {{a, cost_.order()[b]}, {b, cost_.order()[a]}};
  return apply_changes();
}

double OrderMoves::apply_changes() {
  cost_.change(changes_);
  pending_ = Pending::changed;
  return cost_.guide();
}

double OrderMoves::propose_reversal() {
  const std::uint32_t a = random_.below(ranks_);
  const std::uint32_t b = (a + 1 + random_.below(ranks_ - 1)) % ranks_;
  first_ = std::min(a, b);
  last_ = std::max(a, b);
  pending_ = Pending::reversal;
  return ring_->guide_of_reversal(first_, last_);
}

double OrderMoves::propose_shift() {
  const std::uint32_t longest = std::min(kLongestShifted, ranks_ - 2);
  const std::uint32_t length = 1 + random_.below(longest);
  first_ = random_.below(ranks_ - length + 1);
  last_ = first_ + length - 1;
  const std::uint32_t outside = random_.below(ranks_ - length);
  behind_ = outside < first_ ? outside : outside + length;
  pending_ = Pending::shift;
  return ring_->guide_of_shift(first_, last_, behind_);
}

double OrderMoves::propose_permutation() {
  const std::uint32_t length = std::min(ranks_, 2 + random_.below(kLongestPermuted - 1));
  const std::uint32_t begin = random_.below(ranks_ - length + 1);
  changes_.clear();
  for (std::uint32_t i = 0; i < length; ++i) {
    changes_.push_back({begin + i, cost_.order()[begin + i]});
  }
  for (std::uint32_t left = length; left > 1; --left) {
    std::swap(changes_[left - 1].node, changes_[random_.below(left)].node);
  }
  return apply_changes();
}

// Two clusters change places. A cluster is a power of two of adjacent places or, if the number of
// places is a power of two, of places at equal distances.
double OrderMoves::propose_block_swap() {
  const auto& places = cost_.places();
  const auto all = static_cast<std::uint32_t>(places.size());
  std::uint32_t bits = 1 + random_.below(kLargestBlockBits);
  while (bits > 0 && all >> bits < 2) --bits;
  const std::uint32_t blocks = all >> bits;
  const std::uint32_t a = random_.below(blocks);
  const std::uint32_t b = (a + 1 + random_.below(blocks - 1)) % blocks;
  const bool apart = (all & (all - 1)) == 0 && random_.below(2) == 0;
  changes_.clear();
  for (std::uint32_t i = 0; i < 1U << bits; ++i) {
    const auto& of_a = places[apart ? i * blocks + a : (a << bits) + i];
    const auto& of_b = places[apart ? i * blocks + b : (b << bits) + i];
    // If one place is a pair and the other a single rank, only the members change places.
    const auto shared = static_cast<std::ptrdiff_t>(std::min(of_a.size(), of_b.size()));
    auto from_b = of_b.end() - shared;
    for (auto from_a = of_a.end() - shared; from_a != of_a.end(); ++from_a, ++from_b) {
      changes_.push_back({*from_a, cost_.order()[*from_b]});
      changes_.push_back({*from_b, cost_.order()[*from_a]});
    }
  }
  return apply_changes();
}

void OrderMoves::accept() {
  if (pending_ == Pending::reversal) ring_->reverse(first_, last_);
  if (pending_ == Pending::shift) ring_->shift(first_, last_, behind_);
  pending_ = Pending::nothing;
}

void OrderMoves::reject() {
  if (pending_ == Pending::changed) cost_.undo();
  pending_ = Pending::nothing;
}

}  // namespace espalier
