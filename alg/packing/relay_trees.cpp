// Undirected trees over the ranks of a process group and relays, for an all_reduce: every tree
// reduces to its centre and broadcasts back, and relays add and store.
#include <algorithm>
#include <numeric>
#include <utility>

#include "alg/flow/steiner_trees.h"
#include "alg/packing/forest_task.h"
#include "alg/packing/tree_shares.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMostTrees = 64;  // of equal shares; twice as many of unequal ones
constexpr double kFewerTreesLoss = 0.03;  // that fewer trees may cost

// Links and the links back.
struct Cables {
  std::vector<SteinerEdge> edges;
  std::vector<double> rates;  // of the slower direction
  std::vector<std::uint32_t> there;
  std::vector<std::uint32_t> back;
};

Cables cables_of(const Topology& topology) {
  Cables cables;
  for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
    const LinkId back = link_back(topology, LinkId(l));
    if (!back.valid() || back.value() < l) continue;
    const TopologyLink& link = topology.link(LinkId(l));
    const std::uint64_t rate =
        std::min(link.spec.bytes_per_second, topology.link(back).spec.bytes_per_second);
    const auto number = static_cast<std::uint32_t>(cables.edges.size());
    cables.edges.push_back({link.from.value(), link.to.value(), {number}});
    cables.rates.push_back(static_cast<double>(rate));
    cables.there.push_back(l);
    cables.back.push_back(back.value());
  }
  return cables;
}

std::pair<PackedTree, std::size_t> rooted_at(std::uint32_t root, std::size_t vertices,
                                             const Cables& cables,
                                             const std::vector<std::uint32_t>& edges) {
  std::vector<std::size_t> depth(vertices, kUnreached);
  depth[root] = 0;
  PackedTree tree;
  tree.root = root;
  std::vector<std::uint32_t> order{root};
  for (std::size_t head = 0; head < order.size(); ++head) {
    for (const std::uint32_t e : edges) {
      const SteinerEdge& edge = cables.edges[e];
      if (edge.a != order[head] && edge.b != order[head]) continue;
      const bool there = edge.a == order[head];
      const std::uint32_t next = there ? edge.b : edge.a;
      if (depth[next] != kUnreached) continue;
      depth[next] = depth[order[head]] + 1;
      tree.edges.push_back(there ? cables.there[e] : cables.back[e]);
      order.push_back(next);
    }
  }
  return {std::move(tree), depth[order.back()]};
}

// Rooted at a vertex from which the farthest one is nearest.
PackedTree rooted(std::size_t vertices, const Cables& cables,
                  const std::vector<std::uint32_t>& edges) {
  PackedTree best;
  std::size_t best_height = kUnreached;
  for (const std::uint32_t e : edges) {
    for (const std::uint32_t root : {cables.edges[e].a, cables.edges[e].b}) {
      auto [tree, height] = rooted_at(root, vertices, cables, edges);
      if (height >= best_height) continue;
      best_height = height;
      best = std::move(tree);
    }
  }
  return best;
}

}  // namespace

void plan_relay_trees(const ForestTask& task, SegmentSearch& search) {
  const std::size_t vertices = task.topology.num_vertices();
  const Cables cables = cables_of(task.topology);
  std::vector<std::uint32_t> ranks(task.ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  SteinerTrees steiner(vertices, cables.rates, cables.edges, {{ranks, 1, {}}}, false);
  std::vector<LinkLists> found;
  LinkLists all;
  for (std::uint32_t count = 1; count <= kMostTrees; count += count < 16 ? 1 : count / 8) {
    found.emplace_back();
    for (SteinerTrees::Tree& tree : steiner.find({count})) {
      found.back().push_back(std::move(tree.edges));
    }
    if (found.back().empty()) return;
    all.insert(all.end(), found.back().begin(), found.back().end());
  }
  for (auto& tree : all) std::sort(tree.begin(), tree.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const std::vector<double> share = shares_of(all, cables.rates);
  for (std::uint32_t count = 16; count <= 2 * kMostTrees; count += count / 8) {
    LinkLists trees;
    for (const std::size_t t : repeated(share, count)) trees.push_back(all[t]);
    if (!trees.empty()) found.push_back(std::move(trees));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const LinkLists& a, const LinkLists& b) { return a.size() < b.size(); });
  std::vector<double> seconds;  // by `found`
  for (const LinkLists& trees : found) seconds.push_back(seconds_of(trees, cables.rates));
  const double least = *std::min_element(seconds.begin(), seconds.end());
  const PackGraph graph = pack_graph(task.topology, false);
  const LinkLists* before = nullptr;
  for (const double loss : {kFewerTreesLoss, 0.0}) {
    std::size_t i = 0;
    while (seconds[i] > least * (1 + loss)) ++i;
    if (&found[i] == before) break;
    before = &found[i];
    TreeOps trees(task.topology, found[i].size(), 0);
    for (std::size_t u = 0; u < found[i].size(); ++u) {
      const PackedTree tree = rooted(vertices, cables, found[i][u]);
      task.add_reduces(graph, tree, u, false, trees);
      task.add_copies(graph, tree, u, trees);
    }
    search.consider(std::move(trees));
  }
}

}  // namespace espalier
