#include "alg/rank_order/order_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alg/rank_order/ring_cost.h"

namespace espalier {

namespace {

// The best or worst of the orders that a search passes.
class BestOrder {
 public:
  explicit BestOrder(OrderDirection direction) : worst_(direction == OrderDirection::worst) {}

  // A search minimizes the energy. For the worst order, the energy is the negative guide.
  [[nodiscard]] double energy(double guide) const { return worst_ ? -guide : guide; }

  // An order has been priced. It is copied only if it is better.
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

// ---------------------------------------------------------------- moves

constexpr std::uint32_t kPercent = 100;
constexpr std::uint32_t kLongestPermuted = 6;
constexpr std::uint32_t kLongestShifted = 8;
constexpr std::uint32_t kLargestBlockBits = 5;

// The neighbours of an order: swaps of two ranks and permutations of a random sub-array (Cloud
// Collectives, section IV-C). For a ring also 2-opt and Or-opt, which keep most of its hops.
// One move at a time: it is proposed and priced, then accepted or rejected.
class OrderMoves {
 public:
  // `cost` must outlive this object and have an order of at least two ranks.
  OrderMoves(OrderCost& cost, RandomSource& random)
      : cost_(cost),
        ring_(dynamic_cast<RingCost*>(&cost)),
        random_(random),
        ranks_(static_cast<std::uint32_t>(cost.order().size())) {}

  // The guide of the order after a random move.
  [[nodiscard]] double propose() {
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

  void accept() {
    if (pending_ == Pending::reversal) ring_->reverse(first_, last_);
    if (pending_ == Pending::shift) ring_->shift(first_, last_, behind_);
    pending_ = Pending::nothing;
  }

  void reject() {
    if (pending_ == Pending::changed) cost_.undo();
    pending_ = Pending::nothing;
  }

 private:
  enum class Pending : std::uint8_t { nothing, changed, reversal, shift };

  [[nodiscard]] double propose_swap(std::uint32_t a, std::uint32_t b) {
    changes_ = {{a, cost_.order()[b]}, {b, cost_.order()[a]}};
    return apply_changes();
  }

  [[nodiscard]] double propose_reversal() {
    const std::uint32_t a = random_.below(ranks_);
    const std::uint32_t b = (a + 1 + random_.below(ranks_ - 1)) % ranks_;
    first_ = std::min(a, b);
    last_ = std::max(a, b);
    pending_ = Pending::reversal;
    return ring_->guide_of_reversal(first_, last_);
  }

  [[nodiscard]] double propose_shift() {
    const std::uint32_t longest = std::min(kLongestShifted, ranks_ - 2);
    const std::uint32_t length = 1 + random_.below(longest);
    first_ = random_.below(ranks_ - length + 1);
    last_ = first_ + length - 1;
    const std::uint32_t outside = random_.below(ranks_ - length);
    behind_ = outside < first_ ? outside : outside + length;
    pending_ = Pending::shift;
    return ring_->guide_of_shift(first_, last_, behind_);
  }

  [[nodiscard]] double propose_permutation() {
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
  [[nodiscard]] double propose_block_swap() {
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

  [[nodiscard]] double apply_changes() {
    cost_.change(changes_);
    pending_ = Pending::changed;
    return cost_.guide();
  }
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

// ---------------------------------------------------------------- simulated annealing
// (Kirkpatrick, Gelatt, Vecchi, 1983)

constexpr double kFirstTemperature = 0.3;  // share of the mean change of a move
constexpr std::uint64_t kSamples = 256;
constexpr std::uint64_t kStepsBetweenReports = 4096;

double mean_change(OrderMoves& moves, double guide, std::uint64_t samples) {
  double sum = 0;
  for (std::uint64_t s = 0; s < samples; ++s) {
    sum += std::abs(moves.propose() - guide);
    moves.reject();
  }
  return samples == 0 ? 0 : sum / static_cast<double>(samples);
}

}  // namespace

double exponential(std::uint64_t random_bits) {
  constexpr double kLn2 = 0.693147180559945309;
  const std::uint64_t bits = random_bits | 1;
  std::uint32_t zeros = 0;
  while ((bits << zeros >> 63) == 0) ++zeros;
  // u = 2^-zeros * (1 + f) / 2 with f in [0, 1): -log2(u) is near zeros + 1 - f.
  const double fraction = unit_interval(zeros == 63 ? 0 : bits << (zeros + 1));
  return kLn2 * (static_cast<double>(zeros) + 1.0 - fraction);
}

namespace {

// Starts from the order of `cost` and prices `evaluations` orders, including the start. The
// temperature falls with the fourth power of the rest of the budget.
// Returns false if `progress` has ended the search.
bool anneal(OrderCost& cost, RandomSource& random, std::uint64_t evaluations, BestOrder& best,
            const SearchProgress& progress) {
  best.count(evaluations);
  if (evaluations <= 1) return true;
  OrderMoves moves(cost, random);
  double energy = best.energy(cost.guide());
  const std::uint64_t samples = std::min<std::uint64_t>(kSamples, (evaluations - 1) / 2);
  const double first = kFirstTemperature * mean_change(moves, cost.guide(), samples);
  const std::uint64_t steps = evaluations - 1 - samples;
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (step % kStepsBetweenReports == 0 &&
        !progress(static_cast<double>(step) / static_cast<double>(steps))) {
      return false;
    }
    const double left = static_cast<double>(steps - step) / static_cast<double>(steps);
    const double temperature = first * left * left * left * left;
    const double proposed = best.energy(moves.propose());
    if (proposed - energy > temperature * exponential(random.next())) {
      moves.reject();
      continue;
    }
    moves.accept();
    energy = proposed;
    best.offer(cost);
  }
  return true;
}

// ---------------------------------------------------------------- starts

constexpr std::size_t kSmall = 32;
constexpr std::size_t kLarge = 128;

// Small networks have different starts; larger ones have the same start with other random numbers.
std::uint64_t num_starts(std::size_t ranks, std::uint64_t evaluations) {
  const std::uint64_t wanted = ranks <= kSmall ? 8 : ranks <= kLarge ? 4 : 2;
  return std::clamp<std::uint64_t>(evaluations / (64 * ranks), 1, wanted);
}

// The better of the clustered order and the identity.
RankOrder clustered_or_as_they_stand(const CostModel& model, const CostMatrix& costs,
                                     OrderDirection direction) {
  RankOrder clustered = clustered_start(model, costs, direction);
  RankOrder identity = identity_permutation(costs.nodes());
  const Cost of_clustered = full_cost(model, costs, clustered);
  const Cost of_identity = full_cost(model, costs, identity);
  const bool stand =
      direction == OrderDirection::worst ? of_identity > of_clustered : of_identity < of_clustered;
  return stand ? identity : clustered;
}

RankOrder start_order(const CostModel& model, const CostMatrix& costs, const OrderSearchSpec& spec,
                      std::uint64_t start) {
  if (spec.start == OrderStart::random || (start != 0 && model.ranks <= kSmall)) {
    return random_permutation(costs.nodes(), mix(spec.seed, start));
  }
  return spec.start == OrderStart::clustered
             ? clustered_or_as_they_stand(model, costs, spec.direction)
             : identity_permutation(costs.nodes());
}

}  // namespace

FoundOrder search_order(const CostModel& model, const CostMatrix& costs,
                        const OrderSearchSpec& spec, const SearchProgress& progress) {
  const auto cost = make_order_cost(model, costs);
  BestOrder best(spec.direction);
  cost->reset(identity_permutation(costs.nodes()));
  best.offer(*cost);
  const std::uint64_t starts = num_starts(model.ranks, spec.evaluations);
  for (std::uint64_t start = 0; start < starts; ++start) {
    const std::uint64_t budget =
        spec.evaluations / starts + (start < spec.evaluations % starts ? 1 : 0);
    cost->reset(start_order(model, costs, spec, start));
    best.offer(*cost);
    if (model.ranks < 2) break;
    RandomSource random(mix(mix(spec.seed), start));
    const SearchProgress part = [&](double done) {
      return !progress ||
             progress((static_cast<double>(start) + done) / static_cast<double>(starts));
    };
    if (!anneal(*cost, random, budget, best, part)) break;
  }
  return best.take();
}

}  // namespace espalier
