// Out-trees at the best rate of the network (Edmonds 1973), as many for every root, each with the
// same share of the root's data. A broadcast has out-trees of one root.
#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "alg/packing/forest_task.h"
#include "alg/packing/switch_removal.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMostTreesPerRoot = 8;
constexpr std::uint32_t kMostTreesOfBadRates = 32;  // where fewer lose more than kBadLoss
constexpr double kBadLoss = 0.03;
constexpr std::uint32_t kMostTreesOfOneRoot = 64;  // where other nodes have none
// More trees per root divide the links at switches better: up to this many trees, each with at
// least this much data, on networks of few nodes or where paths were found only at a lower rate.
constexpr std::uint32_t kMostSplitTrees = 16;
constexpr Bytes kLeastSplitData = 64 << 10;
constexpr std::size_t kFewSplitNodes = 24;
constexpr std::uint64_t kNoCap = std::numeric_limits<std::uint64_t>::max();
constexpr double kMostSlowdown = 16;  // where safe paths through switches cost rate
constexpr double kMostPairSlowdown = 1e6;
constexpr std::size_t kMostPathRoots = 16;
constexpr double kFewerLoss = 0.01;  // that fewer, longer messages through switches may cost

// How trees grow through switches.
struct Growth {
  RateRule rule = RateRule::slowest;
  SwitchSequence sequence = SwitchSequence::listed;
  std::optional<NodeId> root_of_paths = {};  // PathRule's, if none
};

// Links at switches count as no faster than `cap`.
class DirectedTrees {
 public:
  DirectedTrees(const ForestTask& task, SegmentSearch& search, std::uint64_t cap)
      : task_(task), search_(search) {
    for (const bool reversed : task.phases) {
      PackGraph& graph = graphs_.emplace_back(pack_graph(task.topology, reversed));
      graph.root = task.root;
      for (PackEdge& e : graph.edges) {
        if (e.from >= graph.nodes || e.to >= graph.nodes) e.rate = std::min(e.rate, cap);
      }
      rate_ = std::min(rate_, best_root_rate(graph));
    }
    choose_counts();
  }

  // Returns whether safe paths through switches cost rate.
  bool plan(const Growth& growth) {
    bool ever_lost_rate = false;
    bool lost_rate = false;
    const auto plan_count = [&](std::uint32_t k) {
      if (search_.is_spent()) return;
      lost_rate = plan_trees(k, growth);
      ever_lost_rate = ever_lost_rate || lost_rate;
    };
    for (const std::uint32_t k : counts_) plan_count(k);
    // The few trees of one root, or of a group with relays, leave little choice of paths.
    for (std::uint32_t k = 4 * counts_.front(); is_split_again(k, lost_rate) && !search_.is_spent();
         k *= 4) {
      plan_count(k);
    }
    return ever_lost_rate;
  }

 private:
  // The numbers of trees per root that are planned, the best one first.
  void choose_counts() {
    std::vector<double> losses;  // of 1, 2, ... trees per root
    std::uint32_t best_count = 1;
    const std::uint32_t most = task_.root ? kMostTreesOfOneRoot : kMostTreesOfBadRates;
    for (std::uint32_t k = 1; k <= most; ++k) {
      double loss = 0;
      for (const PackGraph& graph : graphs_) {
        loss = std::max(loss, best_unit_rate(graph, k, rate_).loss(rate_));
      }
      losses.push_back(loss);
      if (loss < losses[best_count - 1] - kGoodLoss / 4) best_count = k;
      const bool suffices =
          !task_.root && k >= kMostTreesPerRoot && losses[best_count - 1] < kBadLoss;
      if (loss < kGoodLoss || suffices) break;
    }
    counts_.push_back(best_count);
    if (const std::uint32_t fewer = fewer_trees(losses, best_count); fewer < best_count) {
      counts_.push_back(fewer);
    }
    if (counts_.back() != 1) counts_.push_back(1);
  }

  // A number of trees below `best` that may be better through switches. If rows repeat: the number
  // of least loss whose rows fit into a table. Otherwise: the smallest number that loses little
  // more, because its messages are longer.
  [[nodiscard]] std::uint32_t fewer_trees(const std::vector<double>& losses,
                                          std::uint32_t best) const {
    if (!task_.is_switched || task_.root) return best;
    const std::size_t rows = (task_.ranks.size() - 1) * task_.phases.size();
    std::uint32_t fewer = 1;
    for (std::uint32_t k = 1; k <= best; ++k) {
      if (task_.request.table_repeat) {
        const std::size_t most_rows = task_.request.table_rows;
        const bool fits = most_rows == 0 || k * rows <= most_rows;
        if (fits && losses[k - 1] < losses[fewer - 1]) fewer = k;
      } else if (losses[k - 1] < losses[best - 1] + kFewerLoss) {
        return k;
      }
    }
    return fewer;
  }

  [[nodiscard]] bool is_split_again(std::uint32_t trees, bool lost_rate) const {
    const bool few = task_.root || !task_.request.relays.empty();
    return few && task_.is_switched && trees <= kMostSplitTrees &&
           task_.request.size / trees >= kLeastSplitData &&
           (lost_rate || task_.ranks.size() <= kFewSplitNodes);
  }

  // With either rule of how trees grow through switches. If one sequence of removing switches costs
  // rate, the other sequence is planned, too. Returns whether one of them costs rate.
  bool plan_trees(std::uint32_t k, Growth growth) {
    bool lost_rate = false;
    for (const SwitchSequence sequence :
         {SwitchSequence::listed, SwitchSequence::fewest_neighbours}) {
      growth.sequence = sequence;
      if (search_.is_spent()) break;
      lost_rate = plan_grown(k, growth) || lost_rate;
      if (!lost_rate || task_.is_near_bound(search_, kGoodLoss)) break;
    }
    return lost_rate;
  }

  bool plan_grown(std::uint32_t k, const Growth& growth) {
    LinkOrder order = growth.root_of_paths ? LinkOrder(task_.topology, *growth.root_of_paths)
                                           : LinkOrder(task_.topology);
    bool lost_rate = false;
    std::vector<NodeGraph> direct;  // by phase
    for (std::size_t phase = 0; phase < graphs_.size(); ++phase) {
      direct.push_back(without_switches(phase, k, growth, order, lost_rate));
    }
    for (const bool short_paths_first : {false, true}) {
      if (short_paths_first && (!task_.is_switched || search_.is_spent())) break;
      TreeOps trees = task_.no_trees(k);
      for (std::size_t phase = 0; phase < graphs_.size(); ++phase) {
        const bool reversed = task_.phases[phase];
        if (!add_trees(direct[phase], reversed, k, short_paths_first, trees)) return lost_rate;
      }
      if (growth.rule == RateRule::own) {
        search_.consider_stored(trees);
      } else {
        search_.consider(std::move(trees));
      }
    }
    return lost_rate;
  }

  // With room for `per_root` trees of every root. Sets `lost_rate` if safe paths cost rate.
  [[nodiscard]] NodeGraph without_switches(std::size_t phase, std::uint32_t per_root,
                                           const Growth& growth, LinkOrder& order,
                                           bool& lost_rate) {
    const PackGraph& graph = graphs_[phase];
    const bool reversed = task_.phases[phase];
    const UnitRate unit = best_unit_rate(graph, per_root, rate_);
    NodeGraph direct = remove_switches(task_.topology, graph, unit.units, per_root, reversed,
                                       growth.rule, growth.sequence, order);
    // Paths that could deadlock are left out, which may cost rate.
    constexpr double kSlower = 0.97;
    for (double slower = unit.unit_rate; !trees_fit(direct.graph, direct.units, per_root);) {
      lost_rate = true;
      if (slower >= unit.unit_rate / kMostSlowdown) {
        slower *= kSlower;
        search_.budget().spend(direct.work);
        direct = remove_switches(task_.topology, graph, units_at(graph, slower), per_root, reversed,
                                 growth.rule, growth.sequence, order);
        continue;
      }
      slower /= 2;
      if (slower < unit.unit_rate / kMostPairSlowdown) {
        throw std::invalid_argument(
            "no trees fit whose paths through the switches cannot deadlock");
      }
      direct = join_pairs(task_.topology, graph, units_at(graph, slower), reversed, order);
    }
    search_.budget().spend(direct.work);
    return direct;
  }

  // Packs `per_root` trees of every root. Returns false if the budget is spent before.
  bool add_trees(const NodeGraph& direct, bool reversed, std::uint32_t per_root,
                 bool short_paths_first, TreeOps& ops) {
    const std::size_t nodes = direct.graph.nodes;
    std::vector<std::int64_t> demand(nodes, 0);
    for (std::size_t n = 0; n < nodes; ++n) demand[n] = direct.graph.is_root(n) ? per_root : 0;
    std::vector<std::uint32_t> next(nodes, 0);
    std::vector<PackedTree> trees =
        pack_out_trees(direct.graph, direct.units, demand, short_paths_first, search_.budget());
    if (trees.empty()) return false;
    // Not the many trees of all roots on direct links, which take long, nor few through switches.
    if (task_.is_switched != task_.root.has_value()) {
      trees = lower_trees(direct.graph, direct.units, edge_times(direct.graph, per_root), trees);
    }
    for (const PackedTree& tree : trees) {
      for (std::int64_t copy = 0; copy < tree.units; ++copy) {
        const std::size_t first = task_.root ? 0 : task_.ranks[tree.root] * per_root;
        task_.add_tree(direct.graph, tree, first + next[tree.root]++, reversed, ops);
      }
    }
    return true;
  }

  // What a segment takes over each edge, if a tree's data are cut into a usual number of segments.
  [[nodiscard]] std::vector<std::uint64_t> edge_times(const PackGraph& graph,
                                                      std::uint32_t per_root) const {
    constexpr Bytes kUsualSegments = 64;  // if off: 13 % slower
    const MessageTiming& timing = task_.request.timing;
    const Bytes segment = task_.request.size / graph.nodes / per_root / kUsualSegments;
    std::vector<std::uint64_t> times;
    for (const PackEdge& edge : graph.edges) {
      std::uint64_t ps = timing.injection_ps + timing.router_ps + timing.delivery_ps;
      for (const LinkId l : edge.path) {
        ps += task_.topology.link(l).spec.latency_ps + timing.router_ps;
      }
      const double seconds = static_cast<double>(segment) / static_cast<double>(edge.rate);
      times.push_back(ps + static_cast<std::uint64_t>(seconds * 1e12));
    }
    return times;
  }

  const ForestTask& task_;
  SegmentSearch& search_;
  std::vector<PackGraph> graphs_;  // by phase
  double rate_ = std::numeric_limits<double>::max();
  std::vector<std::uint32_t> counts_;
};

}  // namespace

std::set<std::uint64_t> lower_rates_at_switches(const Topology& topology) {
  std::vector<std::set<std::uint64_t>> rates_at(topology.num_vertices());
  for (const TopologyLink& link : topology.links()) {
    for (const NodeId end : {link.from, link.to}) {
      if (topology.is_switch(end)) rates_at[end.index()].insert(link.spec.bytes_per_second);
    }
  }
  std::set<std::uint64_t> found;
  for (const std::set<std::uint64_t>& rates : rates_at) {
    if (rates.size() > 1) found.insert(rates.begin(), std::prev(rates.end()));
  }
  return found;
}

void plan_directed_trees(const ForestTask& task, SegmentSearch& search) {
  DirectedTrees(task, search, kNoCap).plan({});
  // If switches pass messages at the rate of the slower of their two links, trees are also packed
  // as if all links at switches were slow: such trees waste less of the fast links.
  for (const std::uint64_t cap : lower_rates_at_switches(task.topology)) {
    DirectedTrees(task, search, cap).plan({});
  }
}

void plan_stored_trees(const ForestTask& task, SegmentSearch& search) {
  Growth growth;
  growth.rule = RateRule::own;
  DirectedTrees trees(task, search, kNoCap);
  const bool lost_rate = trees.plan(growth);
  // Other paths are safe if up and down mean other directions.
  const std::size_t nodes = task.ranks.size();
  for (std::size_t w = nodes; w < task.topology.num_vertices(); ++w) {
    if (!lost_rate || w - nodes == kMostPathRoots) break;
    if (task.is_near_bound(search, kGoodStoredLoss)) break;
    growth.root_of_paths = NodeId(w);
    trees.plan(growth);
  }
}

}  // namespace espalier
