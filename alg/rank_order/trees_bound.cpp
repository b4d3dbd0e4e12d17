// A bound of trees.
#include <algorithm>
#include <limits>

#include "alg/rank_order/bound_parts.h"

namespace espalier {

namespace {

constexpr Cost kNoPath = std::numeric_limits<Cost>::max() / 4;  // two of them can be added
constexpr std::size_t kMostNodes = 512;  // a walk's table takes depth * N^3 steps

// How many ways from the root end in each depth: ranks at that depth.
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

// From one root: as many nodes as the tree has at a depth end walks of that many hops, so that the
// dearest of them costs no less than the walk to the node that is as many-th nearest.
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

// A tree that names a rank twice, as the printed form does, bounds nothing but a root's hop.
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
    // The second tree is the first with other ranks: any node can be any rank.
    std::vector<std::size_t> count = ranks_by_depth(tree);
    if (count == shape) continue;
    shape = std::move(count);
    most = std::max(most, tree_bound(tree, costs));
  }
  return most;
}

}  // namespace espalier
