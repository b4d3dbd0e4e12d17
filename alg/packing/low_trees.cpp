// Trees for small data, which hops and latencies delay more than rates.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "alg/packing/forest_task.h"
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

// One tree per root, each grown over the links that are occupied least so far.
class LowOutTrees {
 public:
  LowOutTrees(const Topology& topology, const PackGraph& graph, LowTrees kind)
      : topology_(topology),
        graph_(graph),
        kind_(kind),
        out_(graph.nodes),
        latency_(graph.edges.size(), 0),
        used_(topology.num_links(), 0) {
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      out_[graph.edges[e].from].push_back(e);
      for (const LinkId l : graph.edges[e].path) {
        // A link without latency costs something, so that paths with fewer links win.
        latency_[e] += std::max<std::uint64_t>(topology.link(l).spec.latency_ps, 1);
      }
    }
  }

  // Empty if a node cannot be reached.
  std::vector<PackedTree> all() {
    std::vector<PackedTree> trees;
    for (std::uint32_t root = 0; root < graph_.nodes; ++root) {
      if (!graph_.is_root(root)) continue;
      auto tree = grow(root);
      if (!tree) return {};
      trees.push_back(std::move(*tree));
    }
    return trees;
  }

 private:
  struct Candidate {
    std::uint64_t at;
    double load;
    std::uint32_t edge;
  };

  // Shortest trees take the nearest node first, so that a link's messages leave in the order in
  // which they are needed.
  [[nodiscard]] bool before(const Candidate& a, const Candidate& b) const {
    if (kind_ == LowTrees::same_height) {
      return std::tie(a.load, a.at, a.edge) < std::tie(b.load, b.at, b.edge);
    }
    const std::uint32_t to_a = graph_.edges[a.edge].to;
    const std::uint32_t to_b = graph_.edges[b.edge].to;
    return std::tie(a.at, to_a, a.load, a.edge) < std::tie(b.at, to_b, b.load, b.edge);
  }

  std::optional<PackedTree> grow(std::uint32_t root) {
    std::vector<std::uint64_t> at(graph_.nodes, kNoPath);  // of the nodes in the tree
    at[root] = 0;
    const std::vector<std::uint64_t> first = earliest(at);
    const std::uint64_t height = *std::max_element(first.begin(), first.end());
    if (height == kNoPath) return std::nullopt;
    PackedTree tree;
    tree.root = root;
    std::vector<Candidate> candidates;
    while (tree.edges.size() + 1 < graph_.nodes) {
      // A node that is reached at its earliest delays no other.
      const std::vector<std::uint64_t> soonest = earliest(at);
      candidates.clear();
      for (std::uint32_t e = 0; e < graph_.edges.size(); ++e) {
        const PackEdge& edge = graph_.edges[e];
        if (at[edge.from] == kNoPath || at[edge.to] != kNoPath) continue;
        const std::uint64_t time = at[edge.from] + latency_[e];
        const std::uint64_t limit = kind_ == LowTrees::shortest ? first[edge.to] : height;
        if (time <= limit) candidates.push_back({time, load(e), e});
      }
      std::sort(candidates.begin(), candidates.end(),
                [this](const Candidate& a, const Candidate& b) { return before(a, b); });
      const auto chosen =
          std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) {
            const std::uint32_t to = graph_.edges[c.edge].to;
            if (c.at == soonest[to]) return true;
            at[to] = c.at;
            const std::vector<std::uint64_t> after = earliest(at);
            at[to] = kNoPath;
            return *std::max_element(after.begin(), after.end()) <= height;
          });
      if (chosen == candidates.end()) return std::nullopt;
      at[graph_.edges[chosen->edge].to] = chosen->at;
      for (const LinkId l : graph_.edges[chosen->edge].path) used_[l.index()] += seconds(l);
      tree.edges.push_back(chosen->edge);
    }
    return tree;
  }

  // When each node is reached at the earliest, from the nodes in the tree at their times.
  [[nodiscard]] std::vector<std::uint64_t> earliest(const std::vector<std::uint64_t>& at) const {
    std::vector<std::uint64_t> reached = at;
    using Entry = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    for (std::uint32_t n = 0; n < graph_.nodes; ++n) {
      if (at[n] != kNoPath) open.push({at[n], n});
    }
    while (!open.empty()) {
      const auto [time, node] = open.top();
      open.pop();
      if (time != reached[node]) continue;
      for (const std::uint32_t e : out_[node]) {
        const std::uint32_t to = graph_.edges[e].to;
        if (at[to] != kNoPath || time + latency_[e] >= reached[to]) continue;
        reached[to] = time + latency_[e];
        open.push({reached[to], to});
      }
    }
    return reached;
  }

  // How long the path's busiest link would be occupied, in seconds per byte of a root's data.
  [[nodiscard]] double load(std::uint32_t e) const {
    double most = 0;
    for (const LinkId l : graph_.edges[e].path)
      most = std::max(most, used_[l.index()] + seconds(l));
    return most;
  }
  [[nodiscard]] double seconds(LinkId l) const {
    return 1 / static_cast<double>(topology_.link(l).spec.bytes_per_second);
  }

  const Topology& topology_;
  const PackGraph& graph_;
  LowTrees kind_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<std::uint64_t> latency_;  // by edge
  std::vector<double> used_;            // by link
};

}  // namespace

std::vector<PackedTree> low_out_trees(const Topology& topology, const PackGraph& graph,
                                      LowTrees kind) {
  return LowOutTrees(topology, graph, kind).all();
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

void plan_low_trees(const ForestTask& task, SegmentSearch& search) {
  for (const LowTrees kind : {LowTrees::shortest, LowTrees::same_height}) {
    TreeOps trees = task.no_trees(1);
    LinkOrder order(task.topology);
    for (const bool reversed : task.phases) {
      const PackGraph direct = task.paths_of_pairs(reversed, order);
      const std::vector<PackedTree> packed = low_out_trees(task.topology, direct, kind);
      if (packed.empty()) return;
      for (const PackedTree& tree : packed) {
        task.add_tree(direct, tree, task.root ? 0 : task.ranks[tree.root], reversed, trees);
      }
    }
    search.consider(std::move(trees));
  }
}

}  // namespace espalier
