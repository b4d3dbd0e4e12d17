// Undirected trees over the ranks of a process group and relays, for an all_reduce: every tree
// reduces to its centre and broadcasts back, and relays add and store.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "alg/flow/steiner_trees.h"
#include "alg/packing/forest_task.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMostTrees = 64;
constexpr double kFewerTreesLoss = 0.03;  // that fewer trees may cost

// Links and the links back.
struct Cables {
  std::vector<SteinerEdge> edges;  // of the slower direction's rate
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
    cables.edges.push_back({link.from.value(), link.to.value(), static_cast<double>(rate)});
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
  SteinerTrees steiner(vertices, ranks, cables.edges);
  std::vector<double> seconds;  // per byte, by `found`
  std::vector<std::vector<std::vector<std::uint32_t>>> found;
  for (std::uint32_t count = 1; count <= kMostTrees; count += count < 16 ? 1 : count / 8) {
    found.push_back(steiner.find(count));
    if (found.back().empty()) return;
    seconds.push_back(steiner.busiest() / count);
  }
  const double least = *std::min_element(seconds.begin(), seconds.end());
  const PackGraph graph = pack_graph(task.topology, false);
  std::size_t last = found.size();
  for (const double loss : {kFewerTreesLoss, 0.0}) {
    const auto chosen = std::find_if(seconds.begin(), seconds.end(),
                                     [&](double s) { return s <= least * (1 + loss); }) -
                        seconds.begin();
    if (std::exchange(last, static_cast<std::size_t>(chosen)) == static_cast<std::size_t>(chosen))
      break;
    TreeOps trees(task.topology, found[last].size(), 0);
    for (std::size_t u = 0; u < found[last].size(); ++u) {
      const PackedTree tree = rooted(vertices, cables, found[last][u]);
      task.add_reduces(graph, tree, u, false, trees);
      task.add_copies(graph, tree, u, trees);
    }
    search.consider(std::move(trees));
  }
}

}  // namespace espalier
