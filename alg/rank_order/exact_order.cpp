#include "alg/rank_order/exact_order.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "alg/rank_order/cost_formula.h"
#include "alg/rank_order/order_bound.h"

namespace espalier {

namespace {

constexpr std::uint32_t kFree = ~std::uint32_t{0};

// The next rank always has the most messages to ranks already placed, so that costs show early.
std::vector<std::uint32_t> order_of_ranks(const CostModel& model) {
  std::vector<std::vector<std::uint32_t>> peers(model.ranks);
  for_each_message(model, [&](const RankPair& pair, Bytes /*bytes*/) {
    peers[pair.a].push_back(pair.b);
    peers[pair.b].push_back(pair.a);
  });
  std::vector<std::uint32_t> to_placed(model.ranks, 0);
  std::vector<bool> placed(model.ranks, false);
  std::vector<std::uint32_t> order;
  while (order.size() < model.ranks) {
    std::uint32_t next = kFree;
    for (std::uint32_t r = 0; r < model.ranks; ++r) {
      if (!placed[r] && (next == kFree || to_placed[r] > to_placed[next])) next = r;
    }
    placed[next] = true;
    for (const std::uint32_t peer : peers[next]) ++to_placed[peer];
    order.push_back(next);
  }
  return order;
}

class Tree {
 public:
  Tree(const CostModel& model, const CostMatrix& costs, OrderDirection direction, FoundOrder known)
      : model_(model),
        costs_(costs),
        worst_(direction == OrderDirection::worst),
        ranks_(order_of_ranks(model)),
        node_of_(model.ranks, kFree),
        taken_(model.ranks, false),
        by_nearness_(model.ranks),
        found_(std::move(known)) {
    for (std::size_t n = 0; n < model.ranks; ++n) {
      auto& others = by_nearness_[n];
      for (std::uint32_t m = 0; m < model.ranks; ++m) {
        if (m != n) others.push_back(m);
      }
      std::stable_sort(others.begin(), others.end(), [&](std::uint32_t x, std::uint32_t y) {
        return better(costs.cost(n, x, model.largest()), costs.cost(n, y, model.largest()));
      });
    }
  }

  // True if the whole tree was searched.
  bool search() {
    place(0);
    return priced_ < kMostPartialOrders;
  }
  FoundOrder take() {
    found_.evaluations = priced_;
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool better(Cost a, Cost b) const { return worst_ ? a > b : a < b; }

  void place(std::size_t depth) {
    if (depth == ranks_.size()) {
      found_.order = node_of_;
      found_.cost = full_cost(model_, costs_, node_of_);
      return;
    }
    for (std::uint32_t node = 0; node < taken_.size(); ++node) {
      if (taken_[node]) continue;
      if (priced_ >= kMostPartialOrders) return;
      node_of_[ranks_[depth]] = node;
      taken_[node] = true;
      ++priced_;
      if (better(promise(), found_.cost)) place(depth + 1);
      taken_[node] = false;
    }
    node_of_[ranks_[depth]] = kFree;
  }

  // A lower bound of a partial order's cost: pairs that are not placed have the lowest cost among
  // free nodes.
  [[nodiscard]] Cost promise() {
    return cost_by(
        model_,
        [&](const RankPair& pair, Bytes bytes) {
          const std::uint32_t a = node_of_[pair.a];
          const std::uint32_t b = node_of_[pair.b];
          if (a != kFree && b != kFree) return costs_.cost(a, b, bytes);
          if (a != kFree) return best_with_free(a, bytes);
          if (b != kFree) return best_with_free(b, bytes);
          return best_of_free(bytes);
        },
        of_vertex_);
  }
  [[nodiscard]] Cost best_with_free(std::uint32_t node, Bytes bytes) const {
    Cost best = 0;
    bool any = false;
    for (const std::uint32_t other : by_nearness_[node]) {
      if (taken_[other]) continue;
      const Cost cost = costs_.cost(node, other, bytes);
      if (costs_.is_proportional()) return cost;
      if (!any || better(cost, best)) best = cost;
      any = true;
    }
    return best;
  }
  [[nodiscard]] Cost best_of_free(Bytes bytes) const {
    Cost best = 0;
    bool any = false;
    for (std::uint32_t node = 0; node < taken_.size(); ++node) {
      if (taken_[node]) continue;
      const Cost cost = best_with_free(node, bytes);
      if (!any || better(cost, best)) best = cost;
      any = true;
    }
    return best;
  }

  const CostModel& model_;
  const CostMatrix& costs_;
  bool worst_;
  std::vector<std::uint32_t> ranks_;  // in the order in which they are placed
  RankOrder node_of_;                 // by rank; kFree: not placed
  std::vector<bool> taken_;           // by node
  std::vector<std::vector<std::uint32_t>> by_nearness_;
  std::vector<Cost> of_vertex_;  // working memory of cost_by
  FoundOrder found_;
  std::uint64_t priced_ = 0;
};

}  // namespace

std::optional<FoundOrder> branch_and_bound(const CostModel& model, const CostMatrix& costs,
                                           OrderDirection direction, const FoundOrder& known) {
  Tree tree(model, costs, direction, known);
  if (!tree.search()) return std::nullopt;
  return tree.take();
}

namespace {

constexpr std::size_t kTiny = 8;  // this many ranks need only a short search before the proof
constexpr std::uint64_t kTinyEvaluations = 500;
constexpr std::uint64_t kLikelyEvaluations = 100'000;

// Best paths from node 0 through every subset of the other nodes to each of its members.
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

// For this few ranks, a search usually finds the optimum, which then only has to be proven.
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
