#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "alg/rank_order/order_search.h"

namespace espalier {

RankOrder order_of_cost(RankOrder start, double cost, std::uint64_t seed,
                        const std::function<double(const RankOrder&)>& cost_of) {
  constexpr std::uint32_t kPatience = 2000;
  constexpr double kNearEnough = 0.005;
  RankOrder order = std::move(start);
  RandomSource random(seed);
  const auto ranks = static_cast<std::uint32_t>(order.size());
  double distance = std::abs(cost_of(order) - cost);
  for (std::uint32_t idle = 0; idle < kPatience && distance > kNearEnough * cost; ++idle) {
    const std::uint32_t a = random.below(ranks);
    const std::uint32_t b = random.below(ranks);
    std::swap(order[a], order[b]);
    const double now = std::abs(cost_of(order) - cost);
    if (now >= distance) {
      std::swap(order[a], order[b]);
      continue;
    }
    distance = now;
    idle = 0;
  }
  return order;
}

namespace {

struct Edge {
  Cost cost;
  std::uint32_t a;
  std::uint32_t b;
};

// Edges of a minimum spanning tree (Prim), nearest first: the order in which single linkage joins.
std::vector<Edge> spanning_edges(const CostMatrix& costs) {
  const std::size_t nodes = costs.nodes();
  std::vector<Edge> nearest(nodes);  // from the tree to each node
  std::vector<bool> in_tree(nodes, false);
  std::vector<Edge> edges;
  std::uint32_t newest = 0;
  in_tree[0] = true;
  for (std::uint32_t n = 1; n < nodes; ++n) nearest[n] = {costs.cost(0, n, 0), 0, n};
  while (edges.size() + 1 < nodes) {
    std::uint32_t next = 0;
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (in_tree[n]) continue;
      const Cost cost = costs.cost(newest, n, 0);
      if (cost < nearest[n].cost) nearest[n] = {cost, newest, n};
      if (next == 0 || nearest[n].cost < nearest[next].cost) next = n;
    }
    in_tree[next] = true;
    edges.push_back(nearest[next]);
    newest = next;
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
    return std::make_tuple(x.cost, std::min(x.a, x.b), std::max(x.a, x.b)) <
           std::make_tuple(y.cost, std::min(y.a, y.b), std::max(y.a, y.b));
  });
  return edges;
}

// Appends the second chain to the first. Both are turned so that their nearest ends meet.
void join(RankOrder& first, RankOrder& second, const CostMatrix& costs) {
  const Cost straight = costs.cost(first.back(), second.front(), 0);
  const Cost second_turned = costs.cost(first.back(), second.back(), 0);
  const Cost first_turned = costs.cost(first.front(), second.front(), 0);
  const Cost both_turned = costs.cost(first.front(), second.back(), 0);
  const Cost best = std::min({straight, second_turned, first_turned, both_turned});
  if (straight != best) {
    const bool turns_first = second_turned != best;
    if (turns_first) std::reverse(first.begin(), first.end());
    if (!turns_first || first_turned != best) std::reverse(second.begin(), second.end());
  }
  first.insert(first.end(), second.begin(), second.end());
  second.clear();
}

// All ranks, in the order of their places' reversed digits.
std::vector<std::uint32_t> by_reversed_digits(const CostModel& model) {
  const std::size_t base = model.base;
  std::size_t digits = 1;
  for (std::size_t reach = base; reach < model.places.size(); reach *= base) ++digits;
  std::vector<std::pair<std::size_t, std::size_t>> keyed;
  for (std::size_t place = 0; place < model.places.size(); ++place) {
    std::size_t reversed = 0;
    std::size_t rest = place;
    for (std::size_t d = 0; d < digits; ++d) {
      reversed = reversed * base + rest % base;
      rest /= base;
    }
    keyed.emplace_back(reversed, place);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::uint32_t> sorted;
  sorted.reserve(model.ranks);
  for (const auto& [key, place] : keyed) {
    sorted.insert(sorted.end(), model.places[place].begin(), model.places[place].end());
  }
  return sorted;
}

}  // namespace

RankOrder clustered_start(const CostModel& model, const CostMatrix& costs,
                          OrderDirection direction) {
  RankOrder chain = clustered_order(costs);
  RankOrder spread(chain.size());
  const auto ranks = by_reversed_digits(model);
  for (std::size_t place = 0; place < chain.size(); ++place) spread[ranks[place]] = chain[place];
  const Cost of_chain = full_cost(model, costs, chain);
  const Cost of_spread = full_cost(model, costs, spread);
  const bool spreads =
      direction == OrderDirection::worst ? of_spread > of_chain : of_spread < of_chain;
  return spreads ? spread : chain;
}

RankOrder clustered_order(const CostMatrix& costs) {
  const std::size_t nodes = costs.nodes();
  std::vector<std::uint32_t> chain_of(nodes);
  std::vector<RankOrder> chains(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    chain_of[n] = n;
    chains[n] = {n};
  }
  for (const Edge& edge : spanning_edges(costs)) {
    std::uint32_t kept = chain_of[edge.a];
    std::uint32_t joined = chain_of[edge.b];
    if (joined < kept) std::swap(kept, joined);
    for (const std::uint32_t node : chains[joined]) chain_of[node] = kept;
    join(chains[kept], chains[joined], costs);
  }
  return chains[chain_of[0]];
}

}  // namespace espalier
