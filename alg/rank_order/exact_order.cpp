#include "alg/rank_order/exact_order.h"

#include <algorithm>
#include <limits>

#include "alg/rank_order/branch_and_bound.h"
#include "alg/rank_order/order_bound.h"

namespace espalier {

namespace {

constexpr std::size_t kTiny = 8;  // ranks whose orders are soon all ruled out
constexpr std::uint64_t kTinyEvaluations = 500;
constexpr std::uint64_t kLikelyEvaluations = 100'000;

// Paths from node 0 through every subset of the other nodes to each of its members.
class HeldKarp {
 public:
  HeldKarp(const CostModel& model, const CostMatrix& costs, OrderDirection direction)
      : costs_(costs),
        bytes_(model.rounds.front().bytes),
        is_max_(model.objective == OrderObjective::max),
        worst_(direction == OrderDirection::worst),
        others_(costs.nodes() - 1),
        best_(others_ << others_, 0),
        before_(others_ << others_, 0) {}

  FoundOrder solve() {
    const std::size_t all = (std::size_t{1} << others_) - 1;
    for (std::size_t set = 1; set <= all; ++set) {
      for (std::size_t end = 0; end < others_; ++end) {
        if ((set >> end & 1) != 0) extend(set, end);
      }
    }
    FoundOrder found;
    std::size_t last = 0;
    for (std::size_t end = 0; end < others_; ++end) {
      ++found.evaluations;
      const Cost closed = joined(best_[at(all, end)], hop(end + 1, 0));
      if (end != 0 && !better(closed, found.cost)) continue;
      found.cost = closed;
      last = end;
    }
    found.evaluations += evaluations_;
    found.order.push_back(0);
    for (std::size_t set = all; set != 0;) {
      found.order.push_back(static_cast<std::uint32_t>(last + 1));
      const std::size_t before = before_[at(set, last)];
      set &= ~(std::size_t{1} << last);
      last = before;
    }
    return found;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t set, std::size_t end) const {
    return set * others_ + end;
  }
  [[nodiscard]] Cost hop(std::size_t from, std::size_t to) const {
    return costs_.cost(from, to, bytes_);
  }
  [[nodiscard]] Cost joined(Cost path, Cost hop) const {
    return is_max_ ? std::max(path, hop) : path + hop;
  }
  [[nodiscard]] bool better(Cost a, Cost b) const { return worst_ ? a > b : a < b; }

  void extend(std::size_t set, std::size_t end) {
    const std::size_t rest = set & ~(std::size_t{1} << end);
    Cost& best = best_[at(set, end)];
    if (rest == 0) {
      best = hop(0, end + 1);
      return;
    }
    bool known = false;
    for (std::size_t before = 0; before < others_; ++before) {
      if ((rest >> before & 1) == 0) continue;
      ++evaluations_;
      const Cost cost = joined(best_[at(rest, before)], hop(before + 1, end + 1));
      if (known && !better(cost, best)) continue;
      known = true;
      best = cost;
      before_[at(set, end)] = static_cast<std::uint8_t>(before);
    }
  }

  const CostMatrix& costs_;
  Bytes bytes_;
  bool is_max_;
  bool worst_;
  std::size_t others_;
  std::vector<Cost> best_;            // by subset and end
  std::vector<std::uint8_t> before_;  // the end's predecessor
  std::uint64_t evaluations_ = 0;
};

// Most of what a search finds for so few ranks is the optimum, and only has to be proven.
FoundOrder likely_order(const CostModel& model, const CostMatrix& costs, OrderDirection direction) {
  OrderSearchSpec spec;
  spec.direction = direction;
  spec.evaluations = model.ranks <= kTiny ? kTinyEvaluations : kLikelyEvaluations;
  return search_order(model, costs, spec);
}

}  // namespace

std::optional<FoundOrder> exact_order(const CostModel& model, const CostMatrix& costs,
                                      OrderDirection direction, std::size_t most_ranks) {
  if (model.ranks > most_ranks || model.ranks < 2) return std::nullopt;
  if (model.is_ring && model.ranks <= kMostHeldKarpRanks) {
    return HeldKarp(model, costs, direction).solve();
  }
  if (model.ranks > kMostBranchedRanks) return std::nullopt;
  FoundOrder likely = likely_order(model, costs, direction);
  const bool is_least =
      direction == OrderDirection::best && likely.cost == order_bound(model, costs).cost;
  if (is_least) return likely;
  return branch_and_bound(model, costs, direction, likely);
}

}  // namespace espalier
