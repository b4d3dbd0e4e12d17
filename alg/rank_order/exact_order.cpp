#include <algorithm>
#include <utility>
#include <vector>

#include "alg/rank_order/cost_formula.h"
#include "alg/rank_order/order_search.h"

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

class PartialOrders {
 public:
  PartialOrders(const CostModel& model, const CostMatrix& costs, OrderDirection direction,
                FoundOrder known)
      : model_(model),
        costs_(costs),
        worst_(direction == OrderDirection::worst),
        ranks_(order_of_ranks(model)),
        node_of_(model.ranks, kFree),
        taken_(model.ranks, false),
        best_first_(model.ranks),
        with_free_(model.ranks, 0),
        found_(std::move(known)) {
    for (std::uint32_t a = 0; a < model.ranks; ++a) {
      for (std::uint32_t b = 0; b < model.ranks; ++b) {
        if (b != a) best_first_[a].push_back(b);
      }
      std::sort(best_first_[a].begin(), best_first_[a].end(),
                [&](std::uint32_t x, std::uint32_t y) {
                  return better(costs.latency(a, x), costs.latency(a, y));
                });
    }
  }

  // Nothing if not all orders were tried or ruled out.
  std::optional<FoundOrder> search() {
    place(0);
    if (priced_ >= kMostPartialOrders) return std::nullopt;
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
      if (model_.is_ring && depth == 0 && node != 0) return;  // a ring that starts elsewhere
      node_of_[ranks_[depth]] = node;
      taken_[node] = true;
      ++priced_;
      if (better(possible(), found_.cost)) place(depth + 1);
      taken_[node] = false;
    }
    node_of_[ranks_[depth]] = kFree;
  }

  // A bound of a partial order's cost: pairs that are not placed have the best latency among free
  // nodes.
  [[nodiscard]] Cost possible() {
    const std::uint64_t none = worst_ ? 0 : ~std::uint64_t{0};
    std::uint64_t of_free = none;
    for (std::size_t a = 0; a < taken_.size(); ++a) {
      const auto& others = best_first_[a];
      const auto free =
          std::find_if(others.begin(), others.end(), [&](std::uint32_t b) { return !taken_[b]; });
      with_free_[a] = free == others.end() ? none : costs_.latency(a, *free);
      if (!taken_[a] && better(with_free_[a], of_free)) of_free = with_free_[a];
    }
    return cost_by(
        model_,
        [&](const RankPair& pair, Bytes bytes) {
          const std::uint32_t a = node_of_[pair.a];
          const std::uint32_t b = node_of_[pair.b];
          if (a != kFree && b != kFree) return costs_.cost(a, b, bytes);
          const std::uint64_t best = a != kFree   ? with_free_[a]
                                     : b != kFree ? with_free_[b]
                                                  : of_free;
          return best * costs_.weight_of(bytes);
        },
        of_vertex_);
  }

  const CostModel& model_;
  const CostMatrix& costs_;
  bool worst_;
  std::vector<std::uint32_t> ranks_;                    // in the order in which they are placed
  RankOrder node_of_;                                   // by rank; kFree: not placed
  std::vector<bool> taken_;                             // by node
  std::vector<std::vector<std::uint32_t>> best_first_;  // by node: the other nodes
  std::vector<std::uint64_t> with_free_;                // by node: its best latency to a free node
  std::vector<Cost> of_vertex_;
  FoundOrder found_;
  std::uint64_t priced_ = 0;
};

}  // namespace

std::optional<FoundOrder> exact_order(const CostModel& model, const CostMatrix& costs,
                                      OrderDirection direction, FoundOrder known) {
  if (direction == OrderDirection::best && known.cost == order_bound(model, costs)) return known;
  return PartialOrders(model, costs, direction, std::move(known)).search();
}

std::optional<FoundOrder> exact_order(const CostModel& model, const CostMatrix& costs,
                                      OrderDirection direction) {
  constexpr std::size_t kTiny = 8;  // this many ranks need only a short search before the proof
  OrderSearchSpec spec;
  spec.direction = direction;
  spec.evaluations = model.ranks <= kTiny ? 500 : 100'000;
  return exact_order(model, costs, direction, search_order(model, costs, spec));
}

}  // namespace espalier
