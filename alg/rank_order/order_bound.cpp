#include "alg/rank_order/order_bound.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "alg/rank_order/cost_formula.h"

namespace espalier {

// ---------------------------------------------------------------- load

namespace {

// Messages and bytes that a rank exchanges with each of its partners. Both lists are descending.
struct Partners {
  std::vector<std::uint64_t> messages;
  std::vector<Bytes> bytes;

  friend bool operator<(const Partners& a, const Partners& b) {
    return a.messages != b.messages ? a.messages < b.messages : a.bytes < b.bytes;
  }
};

// The distinct Partners over all ranks.
std::set<Partners> kinds_of_ranks(const CostModel& model) {
  struct Sum {
    std::uint64_t messages = 0;
    Bytes bytes = 0;
  };
  std::vector<std::map<std::uint32_t, Sum>> of_rank(model.ranks);
  for_each_message(model, [&](const RankPair& pair, Bytes bytes) {
    for (const auto& [from, to] : {std::pair{pair.a, pair.b}, std::pair{pair.b, pair.a}}) {
      Sum& sum = of_rank[from][to];
      ++sum.messages;
      sum.bytes += bytes;
    }
  });
  std::set<Partners> kinds;
  for (const auto& partners : of_rank) {
    Partners kind;
    for (const auto& [peer, sum] : partners) {
      kind.messages.push_back(sum.messages);
      kind.bytes.push_back(sum.bytes);
    }
    std::sort(kind.messages.begin(), kind.messages.end(), std::greater<>());
    std::sort(kind.bytes.begin(), kind.bytes.end(), std::greater<>());
    kinds.insert(std::move(kind));
  }
  return kinds;
}

// The partner with the most traffic is the nearest node. No assignment of partners costs less.
Cost least_of(const Partners& kind, const std::vector<Cost>& latency,
              const std::vector<Cost>& per_byte) {
  Cost cost = 0;
  for (std::size_t k = 0; k < kind.messages.size(); ++k) {
    cost += kind.messages[k] * latency[k] + kind.bytes[k] * per_byte[k];
  }
  return cost;
}

}  // namespace

// The sum over nodes counts every message at both ends.
Cost load_bound(const CostModel& model, const CostMatrix& costs) {
  const std::set<Partners> kinds = kinds_of_ranks(model);
  const std::size_t nodes = costs.nodes();
  Cost twice = 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    std::vector<Cost> latency;
    std::vector<Cost> per_byte;
    for (std::size_t m = 0; m < nodes; ++m) {
      if (m == n) continue;
      latency.push_back(costs.cost(n, m, 0));
      per_byte.push_back(costs.cost(n, m, 1) - latency.back());
    }
    std::sort(latency.begin(), latency.end());
    std::sort(per_byte.begin(), per_byte.end());
    Cost least = least_of(*kinds.begin(), latency, per_byte);
    for (const Partners& kind : kinds) least = std::min(least, least_of(kind, latency, per_byte));
    twice += least;
  }
  return (twice + 1) / 2;
}

// ---------------------------------------------------------------- trees

namespace {

constexpr Cost kNoPath = std::numeric_limits<Cost>::max() / 4;  // the sum of two does not overflow
constexpr std::size_t kMostNodes = 512;  // a walk's table takes depth * N^3 steps

// Number of ranks at each depth.
std::vector<std::size_t> ranks_by_depth(const TreeModel& tree) {
  std::vector<std::size_t> depth(tree.vertices.size(), 0);
  std::vector<std::size_t> count(1, 1);
  for (std::size_t v = tree.vertices.size(); v-- > 0;) {
    for (const TreeModelEdge& edge : tree.vertices[v]) {
      const std::size_t below = depth[v] + 1;
      if (count.size() <= below) count.resize(below + 1, 0);
      ++count[below];
      if (edge.below != TreeModelEdge::kNothing) depth[edge.below] = below;
    }
  }
  return count;
}

Cost cheapest_hop(const std::vector<Cost>& hops, std::size_t nodes) {
  Cost least = kNoPath;
  for (std::size_t n = 0; n < nodes; ++n) {
    for (std::size_t m = 0; m < n; ++m) least = std::min(least, hops[n * nodes + m]);
  }
  return least;
}

// For one root: a tree with c ranks at depth d has c different nodes at the ends of paths of d
// hops. So its most expensive path of d hops costs at least as much as the c-th cheapest walk of d
// hops.
Cost bound_from(std::size_t root, const std::vector<Cost>& hops, std::size_t nodes,
                const std::vector<std::size_t>& count) {
  std::vector<Cost> walk(nodes, kNoPath);
  walk[root] = 0;
  Cost bound = 0;
  for (std::size_t depth = 1; depth < count.size(); ++depth) {
    std::vector<Cost> next(nodes, kNoPath);
    for (std::size_t n = 0; n < nodes; ++n) {
      const Cost* from = &hops[n * nodes];
      for (std::size_t m = 0; m < nodes; ++m) next[m] = std::min(next[m], walk[n] + from[m]);
    }
    walk = std::move(next);
    std::vector<Cost> ends = walk;
    ends[root] = kNoPath;
    const std::size_t nth = std::min(count[depth], nodes - 1) - 1;
    std::nth_element(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(nth), ends.end());
    if (ends[nth] < kNoPath) bound = std::max(bound, ends[nth]);
  }
  return bound;
}

// The printed form names some ranks twice, so the bound does not apply to it.
bool is_tree_of_ranks(const TreeModel& tree, std::size_t ranks) {
  std::vector<std::size_t> parents(ranks, 0);
  std::size_t edges = 0;
  for (const auto& vertex : tree.vertices) {
    for (const TreeModelEdge& edge : vertex) {
      ++parents[edge.pair.b];
      ++edges;
      const bool joins = edge.below == TreeModelEdge::kNothing ||
                         tree.vertices[edge.below].empty() ||
                         tree.vertices[edge.below].front().pair.a == edge.pair.b;
      if (!joins) return false;
    }
  }
  return edges + 1 == ranks &&
         std::all_of(parents.begin(), parents.end(), [](std::size_t p) { return p <= 1; });
}

Cost tree_bound(const TreeModel& tree, const CostMatrix& costs) {
  const std::size_t nodes = costs.nodes();
  std::vector<Cost> hops = costs.costs(tree.bytes);
  if (!is_tree_of_ranks(tree, nodes)) return 0;
  const std::vector<std::size_t> count = ranks_by_depth(tree);
  const Cost shallow = static_cast<Cost>(count.size() - 1) * cheapest_hop(hops, nodes);
  if (nodes > kMostNodes) return shallow;
  for (std::size_t n = 0; n < nodes; ++n) hops[n * nodes + n] = kNoPath;
  Cost least = kNoPath;
  for (std::size_t root = 0; root < nodes; ++root) {
    least = std::min(least, bound_from(root, hops, nodes, count));
  }
  return std::max(shallow, least);
}

}  // namespace

Cost trees_bound(const CostModel& model, const CostMatrix& costs) {
  Cost most = 0;
  std::vector<std::size_t> shape;
  for (const TreeModel& tree : model.trees) {
    // If the second tree has the shape of the first one, its bound is the same, because any node
    // can be any rank.
    std::vector<std::size_t> count = ranks_by_depth(tree);
    if (count == shape) continue;
    shape = std::move(count);
    most = std::max(most, tree_bound(tree, costs));
  }
  return most;
}

// ---------------------------------------------------------------- all models

OrderBound order_bound(const CostModel& model, const CostMatrix& costs) {
  if (model.is_ring) {
    const std::vector<Cost> hops = costs.costs(model.rounds.front().bytes);
    if (model.objective == OrderObjective::max) {
      return {bottleneck_ring_bound(hops, costs.nodes()), "biconnected bottleneck"};
    }
    return {one_tree_bound(hops, costs.nodes()), "1-tree"};
  }
  if (model.objective == OrderObjective::load) {
    return {load_bound(model, costs), "nearest partners of every rank"};
  }
  if (model.has_trees()) return {trees_bound(model, costs), "deepest walks"};
  return {rounds_bound(model, costs), "degrees and parts of the rounds"};
}

}  // namespace espalier
