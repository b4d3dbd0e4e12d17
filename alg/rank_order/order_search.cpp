#include "alg/rank_order/order_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "alg/rank_order/order_moves.h"
#include "alg/rank_order/permutation.h"

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
void anneal(OrderCost& cost, RandomSource& random, std::uint64_t evaluations, BestOrder& best,
            const SearchProgress& progress) {
  best.count(evaluations);
  if (evaluations <= 1) return;
  OrderMoves moves(cost, random);
  double energy = best.energy(cost.guide());
  const std::uint64_t samples = std::min<std::uint64_t>(kSamples, (evaluations - 1) / 2);
  const double first = kFirstTemperature * mean_change(moves, cost.guide(), samples);
  const std::uint64_t steps = evaluations - 1 - samples;
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (step % kStepsBetweenReports == 0 && progress) {
      progress(static_cast<double>(step) / static_cast<double>(steps));
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
}

// ---------------------------------------------------------------- tabu search (Glover, 1989)

constexpr std::uint64_t kSampled = 64;  // swaps of a round
constexpr std::uint64_t kRoundsBetweenReports = 64;

struct Swap {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double energy = 0;
};

class TabuSearch {
 public:
  TabuSearch(OrderCost& cost, RandomSource& random, BestOrder& best)
      : cost_(cost),
        random_(random),
        best_(best),
        moves_(cost, random),
        ranks_(static_cast<std::uint32_t>(cost.order().size())),
        free_from_(ranks_, 0),
        lowest_(best.energy(cost.guide())) {}

  void run_round(std::uint64_t round, std::uint64_t samples) {
    std::optional<Swap> chosen;
    for (std::uint64_t s = 0; s < samples; ++s) {
      const std::uint32_t a = random_.below(ranks_);
      const std::uint32_t b = (a + 1 + random_.below(ranks_ - 1)) % ranks_;
      const bool tabu = is_tabu(a, round) || is_tabu(b, round);
      const double energy = best_.energy(moves_.propose_swap(a, b));
      best_.offer(cost_);
      moves_.reject();
      if (tabu && energy >= lowest_) continue;
      if (!chosen || energy < chosen->energy) chosen = Swap{a, b, energy};
    }
    if (chosen) make(*chosen, round);
  }

 private:
  [[nodiscard]] bool is_tabu(std::uint32_t rank, std::uint64_t round) const {
    return free_from_[cost_.order()[rank]] > round;
  }

  void make(const Swap& swap, std::uint64_t round) {
    for (const std::uint32_t rank : {swap.a, swap.b}) {
      free_from_[cost_.order()[rank]] = round + 1 + ranks_ / 8 + random_.below(ranks_ / 8 + 1);
    }
    static_cast<void>(moves_.propose_swap(swap.a, swap.b));
    moves_.accept();
    lowest_ = std::min(lowest_, swap.energy);
  }

  OrderCost& cost_;
  RandomSource& random_;
  BestOrder& best_;
  OrderMoves moves_;
  std::uint32_t ranks_;
  std::vector<std::uint64_t> free_from_;  // by node: the first round in which it may move
  double lowest_;
};

// Each round makes the best of a sample of random swaps, even if the order gets worse. The two
// nodes must not have moved for a while, unless the swap beats every order so far. Starts from the
// order of `cost` and prices `evaluations` orders, including the start.
void tabu_search(OrderCost& cost, RandomSource& random, std::uint64_t evaluations, BestOrder& best,
                 const SearchProgress& progress) {
  best.count(evaluations);
  TabuSearch search(cost, random, best);
  std::uint64_t left = evaluations - 1;
  for (std::uint64_t round = 0; left > 0; ++round) {
    if (round % kRoundsBetweenReports == 0 && progress) {
      progress(1.0 - static_cast<double>(left) / static_cast<double>(evaluations));
    }
    const std::uint64_t samples = std::min(left, kSampled);
    search.run_round(round, samples);
    left -= samples;
  }
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
  if (start != 0 && model.ranks <= kSmall)
    return random_permutation(costs.nodes(), mix(spec.seed, start));
  switch (spec.start) {
    case OrderStart::clustered:
      return clustered_or_as_they_stand(model, costs, spec.direction);
    case OrderStart::identity:
      return identity_permutation(costs.nodes());
    case OrderStart::random:
      return random_permutation(costs.nodes(), mix(spec.seed, start));
  }
  return identity_permutation(costs.nodes());
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
      if (progress) progress((static_cast<double>(start) + done) / static_cast<double>(starts));
    };
    if (spec.search == OrderSearch::tabu) {
      tabu_search(*cost, random, budget, best, part);
    } else {
      anneal(*cost, random, budget, best, part);
    }
  }
  return best.take();
}

}  // namespace espalier
