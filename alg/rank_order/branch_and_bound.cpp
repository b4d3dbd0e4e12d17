#include "alg/rank_order/branch_and_bound.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "alg/rank_order/cost_formula.h"

namespace espalier {

namespace {

constexpr std::uint32_t kFree = ~std::uint32_t{0};

// Next is always a rank with most messages to ranks before it, so that costs show early.
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

  // Whether the whole tree was seen.
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

  // What the order can still come to: pairs that are not placed are as good as free nodes allow.
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
  RankOrder node_of_;                 // by rank; kFree
  std::vector<bool> taken_;           // by node
  std::vector<std::vector<std::uint32_t>> by_nearness_;
  std::vector<Cost> of_vertex_;  // where a tree is priced
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

}  // namespace espalier
