#include "alg/rank_order/tabu.h"

#include <algorithm>
#include <optional>

#include "alg/rank_order/order_moves.h"

namespace espalier {

namespace {

constexpr std::uint64_t kSampled = 64;         // swaps of a round
constexpr std::uint64_t kBetweenReports = 64;  // rounds

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
  std::vector<std::uint64_t> free_from_;  // round, by node
  double lowest_;
};

}  // namespace

void tabu_search(OrderCost& cost, RandomSource& random, std::uint64_t evaluations, BestOrder& best,
                 const SearchProgress& progress) {
  best.count(evaluations);
  TabuSearch search(cost, random, best);
  std::uint64_t left = evaluations - 1;
  for (std::uint64_t round = 0; left > 0; ++round) {
    if (round % kBetweenReports == 0 && progress) {
      progress(1.0 - static_cast<double>(left) / static_cast<double>(evaluations));
    }
    const std::uint64_t samples = std::min(left, kSampled);
    search.run_round(round, samples);
    left -= samples;
  }
}

}  // namespace espalier
