// Out-trees with multiplicities. A tree grows edge by edge; the number of its copies that an edge
// may take is a minimum cut less the demand of all other trees. Testing every edge takes one flow
// each. In a large network nearly every test says yes, so trees are grown in batches without tests,
// and a batch is tested as a whole.
#include <algorithm>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "alg/packing/tree_packing.h"

namespace espalier {

namespace {

constexpr std::size_t kFirstBatch = 16;  // trees grown without a test
constexpr std::uint64_t kWorkOfVisit = 100;
constexpr std::size_t kFewNodes = 40;  // networks of which every edge is tested

struct PartialTree {
  PackedTree tree;
  std::vector<bool> has;             // by node
  std::vector<std::uint32_t> depth;  // by node
  [[nodiscard]] bool complete() const { return tree.edges.size() + 1 == has.size(); }
};

class OutTreePacker {
 public:
  OutTreePacker(const PackGraph& graph, const std::vector<std::int64_t>& units,
                const std::vector<std::int64_t>& demand, bool short_paths_first,
                const WorkBudget& budget)
      : graph_(graph),
        units_(units),
        left_(units),
        demand_(demand),
        short_paths_first_(short_paths_first),
        budget_(budget),
        flow_(graph.nodes),
        out_(graph.nodes) {
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      flow_.add_arc(graph.edges[e].to, graph.edges[e].from, units[e]);
      out_[graph.edges[e].from].push_back(static_cast<std::uint32_t>(e));
    }
    for (std::size_t r = 0; r < demand.size(); ++r) {
      if (demand[r] > 0) roots_.push_back(static_cast<std::uint32_t>(r));
    }
  }

  std::vector<PackedTree> run() {
    std::size_t batch = graph_.nodes < kFewNodes ? 1 : kFirstBatch;
    std::uint64_t counted = 0;
    while (next_root_ < roots_.size()) {
      budget_.spend(kWorkOfVisit * (flow_.work() - counted));
      if (budget_.is_spent()) return {};
      counted = flow_.work();
      if (batch > 1) {
        const std::size_t end = std::min(next_root_ + batch, roots_.size());
        if (grow_batch(end)) {
          batch = std::min(2 * batch, kFirstBatch);
        } else {
          batch /= 2;
        }
        continue;
      }
      grow_tested();
      if (graph_.nodes >= kFewNodes) batch = 2;
    }
    return std::move(trees_);
  }

 private:
  // An edge that may extend a tree: over the fewest links, if asked for; then with the nearest
  // tail; then with the most units left.
  struct Candidate {
    std::size_t links;
    std::uint32_t depth;
    double used;  // share of the edge's units
    std::uint32_t edge;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return std::tie(a.links, a.depth, a.used, a.edge) >
             std::tie(b.links, b.depth, b.used, b.edge);
    }
  };
  using Candidates = std::priority_queue<Candidate>;

  void add_candidates(const PartialTree& t, std::uint32_t node, Candidates& to) const {
    for (const std::uint32_t e : out_[node]) {
      if (left_[e] == 0 || t.has[graph_.edges[e].to]) continue;
      to.push({short_paths_first_ ? graph_.edges[e].path.size() : 0, t.depth[node],
               1 - static_cast<double>(left_[e]) / static_cast<double>(units_[e]), e});
    }
  }
  [[nodiscard]] Candidates candidates_of(const PartialTree& t) const {
    Candidates result;
    add_candidates(t, t.tree.root, result);
    for (const std::uint32_t e : t.tree.edges) add_candidates(t, graph_.edges[e].to, result);
    return result;
  }
  [[nodiscard]] PartialTree start(std::uint32_t root) const {
    PartialTree t;
    t.tree.root = root;
    t.tree.units = demand_[root];
    t.has.assign(graph_.nodes, false);
    t.depth.assign(graph_.nodes, 0);
    t.has[root] = true;
    return t;
  }
  void take(PartialTree& t, std::uint32_t e) {
    const PackEdge& edge = graph_.edges[e];
    left_[e] -= t.tree.units;
    flow_.set_capacity(e, left_[e]);
    t.tree.edges.push_back(e);
    t.has[edge.to] = true;
    t.depth[edge.to] = t.depth[edge.from] + 1;
  }

  // Whole trees without tests, up to root number `end`; undone if the other roots' trees no longer
  // fit.
  bool grow_batch(std::size_t end) {
    const std::vector<std::int64_t> before = left_;
    const std::size_t trees_before = trees_.size();
    bool fits = true;
    for (std::size_t r = next_root_; fits && r < end; ++r) {
      PartialTree t = start(roots_[r]);
      Candidates candidates = candidates_of(t);
      while (!t.complete() && !candidates.empty()) {
        const std::uint32_t e = candidates.top().edge;
        candidates.pop();
        if (t.has[graph_.edges[e].to] || left_[e] < t.tree.units) continue;
        take(t, e);
        add_candidates(t, graph_.edges[e].to, candidates);
      }
      fits = t.complete();
      trees_.push_back(std::move(t.tree));
    }
    if (fits && rest_fits(end)) {
      next_root_ = end;
      return true;
    }
    trees_.resize(trees_before);
    left_ = before;
    for (std::size_t e = 0; e < left_.size(); ++e) flow_.set_capacity(e, left_[e]);
    return false;
  }

  bool rest_fits(std::size_t first_root) {
    const std::size_t vertices = flow_.num_vertices();
    const std::size_t arcs = flow_.num_arcs();
    const std::size_t source = flow_.add_vertex();
    std::int64_t all = 0;
    for (std::size_t r = first_root; r < roots_.size(); ++r) {
      flow_.add_arc(roots_[r], source, demand_[roots_[r]]);
      all += demand_[roots_[r]];
    }
    bool fits = true;
    for (std::size_t v = 0; fits && v < graph_.nodes; ++v) {
      fits = flow_.max_flow(v, source, all) >= all;
      // All sets of nodes without this node have been tested, so it may join the source.
      flow_.add_arc(v, source, SmallFlow::kUnlimited);
    }
    flow_.truncate(vertices, arcs);
    return fits;
  }

  // The trees of the next root, every edge tested. If only some copies of a tree may take an edge,
  // the tree splits in two.
  void grow_tested() {
    std::vector<PartialTree> unfinished{start(roots_[next_root_])};
    ++next_root_;
    while (!unfinished.empty()) {
      PartialTree t = std::move(unfinished.back());
      unfinished.pop_back();
      Candidates candidates = candidates_of(t);
      while (!t.complete()) {
        if (candidates.empty()) throw std::logic_error("the trees do not fit into the network");
        const std::uint32_t e = candidates.top().edge;
        candidates.pop();
        if (t.has[graph_.edges[e].to] || left_[e] == 0) continue;
        const std::int64_t copies = most_copies(t, e, unfinished);
        if (copies == 0) continue;  // stays so: capacities only shrink
        if (copies < t.tree.units) {
          unfinished.push_back(t);
          unfinished.back().tree.units -= copies;
          t.tree.units = copies;
        }
        take(t, e);
        add_candidates(t, graph_.edges[e].to, candidates);
      }
      trees_.push_back(std::move(t.tree));
    }
  }

  // Every set of nodes that contains the edge's head and not its tail must keep enough units for
  // all trees that still have to enter the set.
  std::int64_t most_copies(const PartialTree& t, std::uint32_t e,
                           const std::vector<PartialTree>& others) {
    const PackEdge& edge = graph_.edges[e];
    const std::int64_t wanted = std::min(t.tree.units, left_[e]);
    const std::size_t vertices = flow_.num_vertices();
    const std::size_t arcs = flow_.num_arcs();
    std::int64_t demands = 0;
    for (std::size_t r = next_root_; r < roots_.size(); ++r) {
      demands += demand_[roots_[r]];
      if (roots_[r] != edge.from) flow_.add_arc(roots_[r], edge.from, demand_[roots_[r]]);
    }
    for (const PartialTree& other : others) {
      demands += other.tree.units;
      const std::size_t p = flow_.add_vertex();
      flow_.add_arc(p, edge.from, other.tree.units);
      for (std::size_t n = 0; n < graph_.nodes; ++n) {
        if (other.has[n]) flow_.add_arc(n, p, other.tree.units);
      }
    }
    const std::int64_t flow = flow_.max_flow(edge.to, edge.from, demands + wanted);
    flow_.truncate(vertices, arcs);
    return std::clamp<std::int64_t>(flow - demands, 0, wanted);
  }

  const PackGraph& graph_;
  const std::vector<std::int64_t>& units_;
  std::vector<std::int64_t> left_;
  const std::vector<std::int64_t>& demand_;
  bool short_paths_first_;
  WorkBudget budget_;
  SmallFlow flow_;  // all arcs turned round, as in DemandFlow (pack_graph.cpp)
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<std::uint32_t> roots_;
  std::size_t next_root_ = 0;
  std::vector<PackedTree> trees_;
};

}  // namespace

std::vector<PackedTree> pack_out_trees(const PackGraph& graph,
                                       const std::vector<std::int64_t>& units,
                                       const std::vector<std::int64_t>& demand,
                                       bool short_paths_first, const WorkBudget& budget) {
  return OutTreePacker(graph, units, demand, short_paths_first, budget).run();
}

}  // namespace espalier
