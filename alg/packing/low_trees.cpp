// Trees for small data, which hops and latencies delay more than rates.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "alg/packing/tree_packing.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

// The nodes from which the farthest node is nearest.
std::vector<std::uint32_t> middle_nodes(const Topology& topology) {
  std::vector<std::uint32_t> middle;
  std::size_t least = kUnreached;
  for (std::uint32_t n = 0; n < topology.num_nodes(); ++n) {
    const auto distance = distances_from(topology, NodeId(n));
    const std::size_t height = *std::max_element(distance.begin(), distance.end());
    if (height < least) middle.clear();
    least = std::min(least, height);
    if (height == least) middle.push_back(n);
  }
  return middle;
}

constexpr std::uint64_t kNoPath = std::numeric_limits<std::uint64_t>::max();

// Latencies from `root` to each node.
std::vector<std::uint64_t> latencies_from(const PackGraph& graph,
                                          const std::vector<std::vector<std::uint32_t>>& out,
                                          const std::vector<std::uint64_t>& latency,
                                          std::uint32_t root) {
  std::vector<std::uint64_t> reached(graph.nodes, kNoPath);
  using Entry = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  reached[root] = 0;
  open.push({0, root});
  while (!open.empty()) {
    const auto [time, node] = open.top();
    open.pop();
    if (time != reached[node]) continue;
    for (const std::uint32_t e : out[node]) {
      std::uint64_t& at = reached[graph.edges[e].to];
      if (time + latency[e] >= at) continue;
      at = time + latency[e];
      open.push({at, graph.edges[e].to});
    }
  }
  return reached;
}

}  // namespace

std::vector<PackedTree> low_out_trees(const Topology& topology, const PackGraph& graph) {
  std::vector<std::vector<std::uint32_t>> into(graph.nodes);
  std::vector<std::vector<std::uint32_t>> out(graph.nodes);
  std::vector<std::uint64_t> latency(graph.edges.size(), 0);
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    into[graph.edges[e].to].push_back(e);
    out[graph.edges[e].from].push_back(e);
    for (const LinkId l : graph.edges[e].path) {
      latency[e] += std::max<std::uint64_t>(topology.link(l).spec.latency_ps, 1);
    }
  }
  std::vector<std::uint32_t> used(topology.num_links(), 0);
  const auto load = [&](std::uint32_t e) {
    std::uint32_t most = 0;
    for (const LinkId l : graph.edges[e].path) most = std::max(most, used[l.index()]);
    return most;
  };
  std::vector<PackedTree> trees;
  for (std::uint32_t root = 0; root < graph.nodes; ++root) {
    const std::vector<std::uint64_t> reached = latencies_from(graph, out, latency, root);
    std::vector<std::uint32_t> order(graph.nodes);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return reached[a] < reached[b]; });
    if (reached[order.back()] == kNoPath) return {};
    PackedTree tree;
    tree.root = root;
    for (const std::uint32_t n : order) {
      if (n == root) continue;
      std::uint32_t best = ~0U;
      for (const std::uint32_t e : into[n]) {
        const std::uint64_t before = reached[graph.edges[e].from];
        if (before + latency[e] != reached[n]) continue;
        if (best == ~0U || load(e) < load(best)) best = e;
      }
      for (const LinkId l : graph.edges[best].path) ++used[l.index()];
      tree.edges.push_back(best);
    }
    trees.push_back(std::move(tree));
  }
  return trees;
}

std::vector<PackedTree> low_undirected_trees(const Topology& topology, const PackGraph& graph,
                                             std::size_t count) {
  const std::vector<std::uint32_t> middle = middle_nodes(topology);
  if (count > middle.size()) return {};
  std::vector<std::vector<std::uint32_t>> into(graph.nodes);
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) into[graph.edges[e].to].push_back(e);
  std::vector<std::uint32_t> used(graph.edges.size(), 0);
  std::vector<PackedTree> trees;
  for (std::size_t i = 0; i < count; ++i) {
    PackedTree tree;
    tree.root = middle[i * middle.size() / count];
    const auto distance = distances_from(topology, NodeId(tree.root));
    std::vector<std::uint32_t> order(graph.nodes);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return distance[a] < distance[b]; });
    for (const std::uint32_t n : order) {
      if (n == tree.root) continue;
      std::uint32_t best = ~0U;
      for (const std::uint32_t e : into[n]) {
        if (distance[graph.edges[e].from] + 1 != distance[n]) continue;
        if (best == ~0U || used[e] < used[best]) best = e;
      }
      ++used[best];
      tree.edges.push_back(best);
    }
    trees.push_back(std::move(tree));
  }
  return trees;
}

}  // namespace espalier
