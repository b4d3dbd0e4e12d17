// Lowers packed trees. Packing gives the last trees what the others leave, so their ways are long.
// Two trees may exchange the edges over which they reach a node, as long as neither of them then
// hangs below itself: every edge still serves as many trees as before.
#include <algorithm>
#include <random>
#include <utility>

#include "alg/packing/tree_packing.h"

namespace espalier {

namespace {

constexpr std::uint32_t kNoEdge = ~0U;
constexpr std::uint64_t kExchanges = 60;  // tried per node of every tree; if off: 5.5 % slower

class TreeLowering {
 public:
  TreeLowering(const PackGraph& graph, const std::vector<std::int64_t>& units,
               const std::vector<std::uint64_t>& edge_ps, const std::vector<PackedTree>& trees)
      : graph_(graph), edge_ps_(edge_ps), spare_(units), into_(graph.nodes) {
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) into_[graph.edges[e].to].push_back(e);
    for (const PackedTree& tree : trees) {
      for (std::int64_t copy = 0; copy < tree.units; ++copy) {
        Tree t;
        t.root = tree.root;
        t.parent.assign(graph.nodes, kNoEdge);
        for (const std::uint32_t e : tree.edges) {
          t.parent[graph.edges[e].to] = e;
          --spare_[e];
        }
        measure(t);
        trees_.push_back(std::move(t));
      }
    }
  }

  std::vector<PackedTree> run() {
    std::mt19937 random(1);
    const auto nodes = static_cast<std::uint32_t>(graph_.nodes);
    const std::uint64_t attempts = kExchanges * trees_.size() * nodes;
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
      Tree& t = trees_[random() % trees_.size()];
      const auto node = static_cast<std::uint32_t>(random() % nodes);
      if (node == t.root) continue;
      const std::uint32_t e = into_[node][random() % into_[node].size()];
      if (e == t.parent[node]) continue;
      if (spare_[e] > 0) {
        // Links between switches that no tree needs stay free: time slots are found more easily
        // there.
        const PackEdge& now = graph_.edges[t.parent[node]];
        if (graph_.edges[e].path.size() <= now.path.size()) take_spare(t, node, e);
        continue;
      }
      exchange(t, trees_[random() % trees_.size()], node);
    }
    std::vector<PackedTree> result;
    for (const Tree& t : trees_) result.push_back(packed(t));
    return result;
  }

 private:
  struct Tree {
    std::uint32_t root = 0;
    std::vector<std::uint32_t> parent;  // by node: the edge into it
    std::vector<std::uint64_t> at_ps;   // by node: when data from the root have come
    double cost = 0;
  };

  // Times and cost by the tree's edges. False if a node hangs below itself.
  bool measure(Tree& t) {
    constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
    t.at_ps.assign(graph_.nodes, kUnknown);
    t.at_ps[t.root] = 0;
    double most = 0;
    double sum = 0;
    for (std::uint32_t n = 0; n < graph_.nodes; ++n) {
      way_.clear();
      for (std::uint32_t v = n; t.at_ps[v] == kUnknown; v = graph_.edges[t.parent[v]].from) {
        if (way_.size() == graph_.nodes) return false;
        way_.push_back(v);
      }
      for (std::size_t i = way_.size(); i-- > 0;) {
        const std::uint32_t e = t.parent[way_[i]];
        t.at_ps[way_[i]] = t.at_ps[graph_.edges[e].from] + edge_ps_[e];
      }
      const auto us = static_cast<double>(t.at_ps[n]) * 1e-6;
      most = std::max(most, us);
      sum += us;
    }
    const double square = most * most;
    t.cost = square * square + 1e-3 * sum / static_cast<double>(graph_.nodes) * square * most;
    return true;
  }

  void take_spare(Tree& t, std::uint32_t node, std::uint32_t e) {
    Tree next = t;
    next.parent[node] = e;
    if (!measure(next) || next.cost > t.cost) return;
    ++spare_[t.parent[node]];
    --spare_[e];
    t = std::move(next);
  }

  void exchange(Tree& a, Tree& b, std::uint32_t node) {
    if (node == b.root || a.parent[node] == b.parent[node]) return;
    Tree next_a = a;
    Tree next_b = b;
    std::swap(next_a.parent[node], next_b.parent[node]);
    if (!measure(next_a) || !measure(next_b)) return;
    if (next_a.cost + next_b.cost > a.cost + b.cost) return;
    a = std::move(next_a);
    b = std::move(next_b);
  }

  // Parents before their children.
  [[nodiscard]] PackedTree packed(const Tree& t) const {
    PackedTree result;
    result.root = t.root;
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t n = 0; n < graph_.nodes; ++n) {
      if (n != t.root) nodes.push_back(n);
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return t.at_ps[x] < t.at_ps[y]; });
    for (const std::uint32_t n : nodes) result.edges.push_back(t.parent[n]);
    return result;
  }

  const PackGraph& graph_;
  const std::vector<std::uint64_t>& edge_ps_;
  std::vector<std::int64_t> spare_;               // by edge: units that no tree uses
  std::vector<std::vector<std::uint32_t>> into_;  // by node: edges
  std::vector<Tree> trees_;
  std::vector<std::uint32_t> way_;
};

}  // namespace

std::vector<PackedTree> lower_trees(const PackGraph& graph, const std::vector<std::int64_t>& units,
                                    const std::vector<std::uint64_t>& edge_ps,
                                    const std::vector<PackedTree>& trees) {
  return TreeLowering(graph, units, edge_ps, trees).run();
}

}  // namespace espalier
