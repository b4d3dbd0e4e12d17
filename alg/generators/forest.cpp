// FOREST: trees at the optimal rate of any network, and an order of their messages.
//
// The rate of an all_gather is bounded by the cut through which most nodes must send
// (best_root_rate). Out-trees reach it (Edmonds 1973), `trees` per root, each with the same share
// of the root's data. A reduce_scatter is an all_gather of the reversed network. An all_reduce is
// both, one after the other, or undirected trees that reduce to their centre and broadcast back;
// the planned time decides. The data of a tree are cut into segments. On direct links every segment
// has its place in a list (alg/packing/list_plan.cpp); through switches, or if table rows repeat,
// segments follow each other in rounds (alg/packing/round_plan.h). Trees, segments and rounds are
// chosen by planned time.
//
// A broadcast has out-trees of one root, whose rate is the least maximum flow from the root to a
// node (Edmonds 1973); a reduce is a broadcast of the reversed network.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "alg/generators/generator.h"
#include "alg/generators/multitree.h"
#include "alg/generators/segment_search.h"
#include "alg/packing/pack_graph.h"
#include "alg/packing/round_plan.h"
#include "alg/packing/shift_routes.h"
#include "alg/packing/switch_removal.h"
#include "alg/packing/tree_packing.h"
#include "alg/routes/links.h"
#include "alg/time/schedule_time.h"

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
constexpr double kGoodStoredLoss = 0.02;    // of the bound's, where switches store messages
constexpr double kGoodLoss = 0.005;         // of the best rate, at which no more trees are tried
constexpr double kFewerLoss = 0.01;         // that fewer, longer messages through switches may cost
constexpr std::size_t kMostLowNodes = 144;  // for trees of least latency
constexpr double kManyLatencies = 16;       // up to which direct networks try these
constexpr std::uint32_t kMostTimedPieces = 32;  // of a root's data, for trees that grow in time
constexpr Bytes kLeastTimedPiece = 256;         // a smaller message is mostly head
// Larger networks take minutes to plan.
constexpr std::size_t kMostForestNodes = 1024;
constexpr std::size_t kMostNodesBehindSwitches = 72;
constexpr std::size_t kMostShiftNodes = 256;  // behind switches with shift_routes()

// How trees grow through switches.
struct Growth {
  RateRule rule = RateRule::slowest;
  SwitchSequence sequence = SwitchSequence::listed;
  bool short_paths_first = false;
  std::optional<NodeId> root_of_paths = {};  // PathRule's, if none
};

// Trees that are planned, unless the plans of the candidates before them are good enough.
struct Candidate {
  std::function<void()> plan;
  std::optional<double> good_loss = {};  // of the bound's rate: ends the search after this one
};

class ForestBuilder {
 public:
  ForestBuilder(const Topology& topology, const CollectiveRequest& request)
      : topology_(topology), request_(request), choice_(topology, request) {
    ranks_.resize(topology.num_nodes());
    for (std::size_t r = 0; r < ranks_.size(); ++r) ranks_[request.node_of(r).index()] = r;
  }

  Schedule build() {
    for (const Candidate& candidate : candidates()) {
      candidate.plan();
      if (candidate.good_loss && is_near_bound(*candidate.good_loss)) break;
    }
    if (choice_.empty()) throw std::invalid_argument("no trees fit into this network");
    return choice_.schedule("forest");
  }

 private:
  // In the order in which they are planned.
  [[nodiscard]] std::vector<Candidate> candidates() {
    const bool is_switched = topology_.num_switches() != 0;
    const bool all_reduces = request_.op == CollectiveOp::all_reduce;
    std::vector<Candidate> list;
    if (is_switched && !only_root()) {
      if (auto shifts = shift_routes(topology_)) {
        list.push_back({[this, shifts = *std::move(shifts)] { plan_shifts(shifts); }, kGoodLoss});
      }
    }
    if (is_switched && ranks_.size() > kMostNodesBehindSwitches) {
      if (!list.empty()) return list;
      throw std::invalid_argument(fmt::format("forest plans a {} behind switches on up to {} nodes",
                                              to_string(request_.op), kMostNodesBehindSwitches));
    }
    if (is_switched && !only_root() && request_.relays.empty()) {
      list.push_back({[this] { plan_timed(); }});
      // The phases of an all_reduce overlap, except with trees that grow in time.
      if (!all_reduces) list.back().good_loss = kGoodLoss;
    }
    if (all_reduces && !is_switched) list.push_back({[this] { plan_undirected(); }});
    const std::set<std::uint64_t> slower = caps();
    if (stores() && !slower.empty()) {
      list.push_back({[this] { plan_stored(); }, kGoodStoredLoss});
    }
    list.push_back({[this] { plan_directed(kNoCap, {}); }});
    // If switches pass messages at the rate of the slower of their two links, trees are also packed
    // as if all links at switches were slow: such trees waste less of the fast links.
    for (const std::uint64_t cap : slower) {
      list.push_back({[this, cap] { plan_directed(cap, {}); }});
    }
    // Time slots of equal links are exact, but through several switches some stay empty.
    if (stores() && slower.empty()) {
      list.push_back({[this] {
        if (!is_near_bound(kGoodStoredLoss)) plan_stored();
      }});
    }
    if (!is_switched && ranks_.size() <= kMostLowNodes && !only_root() &&
        unsuited_for_mirrored_trees(topology_, "forest").empty()) {
      list.push_back({[this] { plan_steps(); }});
    }
    if (is_small(is_switched ? 1 : kManyLatencies) && ranks_.size() <= kMostLowNodes) {
      list.push_back({[this] { plan_low(LowTrees::shortest); }});
      list.push_back({[this] { plan_low(LowTrees::same_height); }});
    }
    return list;
  }

  [[nodiscard]] bool reduces() const {
    return request_.op != CollectiveOp::all_gather && request_.op != CollectiveOp::broadcast;
  }
  [[nodiscard]] bool gathers() const {
    return request_.op != CollectiveOp::reduce_scatter && request_.op != CollectiveOp::reduce;
  }
  // Reduces over the reversed network, or copies.
  [[nodiscard]] bool has_phase(bool reversed) const { return reversed ? reduces() : gathers(); }
  [[nodiscard]] std::optional<std::uint32_t> only_root() const {
    if (!is_rooted(request_.op)) return std::nullopt;
    return request_.node_of(request_.root).value();
  }

  // ---- trees ----

  using Reduced = std::vector<std::vector<std::uint32_t>>;  // by unit: the last ones into its root

  [[nodiscard]] TreeOps empty_forest(std::uint32_t trees_per_root) const {
    TreeOps forest(topology_);
    forest.per_rank = only_root() ? 0 : trees_per_root;
    forest.units = trees_per_root * (only_root() ? 1 : ranks_.size());
    return forest;
  }

  // Every node sends to every other node directly.
  void plan_shifts(const ShiftRoutes& shifts) {
    TreeOps forest(topology_);
    forest.per_rank = 1;
    forest.units = ranks_.size();
    std::vector<std::uint32_t> step;
    Reduced reduced(forest.units);
    for (const TransferKind kind : {TransferKind::reduce, TransferKind::copy}) {
      if (!has_phase(kind == TransferKind::reduce)) continue;
      const std::uint32_t first = step.empty() ? 0 : step.back() + 1;
      for (std::uint32_t s = 0; s < shifts.steps.size(); ++s) {
        for (const ShiftRoutes::Send& send : shifts.steps[s]) {
          RoundOp op;
          op.from = send.from;
          op.to = send.to;
          op.route = forest.routes.add(topology_, send.path);
          op.kind = kind;
          const NodeId owner = kind == TransferKind::reduce ? send.to : send.from;
          op.unit = static_cast<std::uint32_t>(ranks_[owner.index()]);
          if (kind == TransferKind::copy) {
            op.after = reduced[op.unit];
          } else {
            reduced[op.unit].push_back(static_cast<std::uint32_t>(forest.ops.size()));
          }
          step.push_back(first + s);
          forest.ops.push_back(std::move(op));
        }
      }
    }
    const auto turn = static_cast<std::uint32_t>(shifts.steps.size());
    choice_.consider_steps(forest, step, request_.op == CollectiveOp::all_reduce ? turn : ~0U);
  }

  // No other trees can gain more than `loss`.
  [[nodiscard]] bool is_near_bound(double loss) const {
    if (choice_.empty() || only_root()) return false;
    double seconds = 0;
    for (const bool reversed : {true, false}) {
      if (!has_phase(reversed)) continue;
      seconds += static_cast<double>(request_.size) / static_cast<double>(ranks_.size()) /
                 best_root_rate(pack_graph(topology_, reversed));
    }
    constexpr double kPsPerSecond = 1e12;
    return seconds * kPsPerSecond >= (1 - loss) * static_cast<double>(choice_.time_ps());
  }

  // MultiTree's trees: where no link idles in their steps, whole chunks follow each other without
  // a gap. On a uniform 5x5 mesh no other trees are as fast.
  void plan_steps() {
    const TreeForest steps = build_trees(topology_, request_);
    TreeOps forest(topology_);
    forest.per_rank = 1;
    forest.units = ranks_.size();
    Reduced reduced(forest.units);
    for (const bool reversed : {true, false}) {
      if (!has_phase(reversed)) continue;
      const PackGraph graph = pack_graph(topology_, reversed);
      for (std::uint32_t root = 0; root < ranks_.size(); ++root) {
        PackedTree tree;
        tree.root = root;
        for (const TreeEdge& edge : steps.trees[root]) {
          const LinkId link = steps.paths.link(edge.path, 0);
          tree.edges.push_back((reversed ? link_back(topology_, link) : link).value());
        }
        add_tree(graph, tree, ranks_[root], reversed, forest, reduced);
      }
    }
    choice_.consider(std::move(forest));
  }

  // One tree per root, of least latency.
  void plan_low(LowTrees kind) {
    TreeOps forest = empty_forest(1);
    Reduced reduced(forest.units);
    LinkOrder order(topology_);
    for (const bool reversed : {true, false}) {
      if (!has_phase(reversed)) continue;
      const PackGraph direct = paths_of_pairs(reversed, order);
      const std::vector<PackedTree> trees = low_out_trees(topology_, direct, kind);
      if (trees.empty()) return;
      for (const PackedTree& tree : trees) {
        add_tree(direct, tree, only_root() ? 0 : ranks_[tree.root], reversed, forest, reduced);
      }
    }
    choice_.consider(std::move(forest));
  }

  // Trees that grow in time, of more and more pieces of the data until they take longer.
  void plan_timed() {
    LinkOrder order(topology_);
    std::optional<PackGraph> in;
    std::optional<PackGraph> out;
    if (reduces()) in = paths_of_pairs(true, order);
    if (gathers()) out = paths_of_pairs(false, order);
    for (const TimedOrder kind : {TimedOrder::busy, TimedOrder::balanced}) {
      std::uint64_t best_ps = std::numeric_limits<std::uint64_t>::max();
      for (std::uint32_t pieces = std::max(1U, request_.segments); fits_pieces(pieces);
           pieces *= 2) {
        const std::optional<std::uint64_t> time_ps = add_timed(in, out, pieces, kind);
        if (!time_ps || request_.segments != 0 || *time_ps >= best_ps) break;
        best_ps = *time_ps;
      }
    }
  }

  // A path from every node to every other one. Which paths there are matters here, not how many
  // trees they carry.
  [[nodiscard]] PackGraph paths_of_pairs(bool reversed, LinkOrder& order) const {
    PackGraph graph = pack_graph(topology_, reversed);
    graph.root = only_root();
    const std::vector<std::int64_t> many(graph.edges.size(), std::int64_t{1} << 32);
    return join_pairs(topology_, graph, many, reversed, order).graph;
  }

  [[nodiscard]] bool fits_pieces(std::uint32_t pieces) const {
    if (pieces == request_.segments || pieces == 1) return true;
    if (request_.segments != 0) return false;
    const std::size_t rows = (ranks_.size() - 1) * pieces;
    const bool fits_table = request_.table_rows == 0 || rows <= 2 * request_.table_rows;
    return fits_table && pieces <= kMostTimedPieces &&
           request_.size / ranks_.size() / pieces >=
               std::max(kLeastTimedPiece, request_.element_bytes);
  }

  // Returns the planned time, or nothing if there are no trees.
  std::optional<std::uint64_t> add_timed(const std::optional<PackGraph>& in,
                                         const std::optional<PackGraph>& out, std::uint32_t pieces,
                                         TimedOrder kind) {
    TreeOps forest = empty_forest(pieces);
    const Bytes bytes = choice_.unit_bytes(forest);
    Reduced reduced(forest.units);
    std::vector<std::uint64_t> starts;
    for (const auto* graph : {&in, &out}) {
      if (!*graph) continue;
      const bool reversed = graph == &in;
      const std::vector<TimedTree> trees =
          timed_out_trees(topology_, **graph, pieces, bytes, request_.timing, kind, reversed);
      if (trees.empty()) return std::nullopt;
      // The root that was reduced to last decides when all of them pass on the sums.
      const std::uint64_t after = reversed || starts.empty() ? 0
                                                             : end_of(forest, starts, bytes) +
                                                                   request_.timing.turnaround_ps;
      for (std::size_t t = 0; t < trees.size(); ++t) {
        const PackedTree& tree = trees[t].tree;
        const std::vector<std::uint64_t>& times = trees[t].start_ps;
        add_tree(**graph, tree, ranks_[tree.root] * pieces + t % pieces, reversed, forest, reduced);
        if (reversed) {
          starts.insert(starts.end(), times.rbegin(), times.rend());
        } else {
          for (const std::uint64_t time : times) starts.push_back(after + time);
        }
      }
    }
    return choice_.consider_starts(forest, std::move(starts));
  }

  [[nodiscard]] std::uint64_t end_of(const TreeOps& forest,
                                     const std::vector<std::uint64_t>& starts, Bytes bytes) const {
    const MessageTimes times(topology_, forest.routes, request_.timing);
    std::uint64_t end = 0;
    for (std::size_t o = 0; o < starts.size(); ++o) {
      end = std::max(end, starts[o] + times.arrival_ps(forest.ops[o], bytes));
    }
    return end;
  }

  [[nodiscard]] bool stores() const {
    return topology_.num_switches() != 0 && request_.timing.stored_bytes != 0 &&
           request_.timing.slot_counter && request_.relays.empty();
  }

  void plan_stored() {
    Growth growth;
    growth.rule = RateRule::own;
    bool lost_rate = plan_directed(kNoCap, growth);
    // Other paths are safe if up and down mean other directions.
    for (std::size_t w = ranks_.size(); w < topology_.num_vertices(); ++w) {
      if (!lost_rate || w - ranks_.size() == kMostPathRoots) break;
      if (is_near_bound(kGoodStoredLoss)) break;
      growth.root_of_paths = NodeId(w);
      plan_directed(kNoCap, growth);
    }
  }

  // The rates at switches whose links differ, without each such switch's highest.
  [[nodiscard]] std::set<std::uint64_t> caps() const {
    std::set<std::uint64_t> found;
    for (std::size_t w = ranks_.size(); w < topology_.num_vertices(); ++w) {
      std::set<std::uint64_t> rates;
      for (const TopologyLink& link : topology_.links()) {
        if (link.from.index() == w || link.to.index() == w) {
          rates.insert(link.spec.bytes_per_second);
        }
      }
      if (rates.size() > 1) found.insert(rates.begin(), std::prev(rates.end()));
    }
    return found;
  }

  [[nodiscard]] PackGraph capped_graph(bool reversed, std::uint64_t cap) const {
    PackGraph graph = pack_graph(topology_, reversed);
    graph.root = only_root();
    for (PackEdge& e : graph.edges) {
      if (e.from >= graph.nodes || e.to >= graph.nodes) e.rate = std::min(e.rate, cap);
    }
    return graph;
  }

  // The networks of an operation's phases, and the rate that both permit.
  struct Phases {
    std::optional<PackGraph> in;
    std::optional<PackGraph> out;
    double rate = std::numeric_limits<double>::max();
  };
  [[nodiscard]] Phases phases(std::uint64_t cap) const {
    Phases p;
    if (gathers())
      p.rate = std::min(p.rate, best_root_rate(p.out.emplace(capped_graph(false, cap))));
    if (reduces()) p.rate = std::min(p.rate, best_root_rate(p.in.emplace(capped_graph(true, cap))));
    return p;
  }

  // Plans several numbers of trees. Returns whether safe paths through switches cost rate.
  bool plan_directed(std::uint64_t cap, const Growth& growth) {
    const Phases p = phases(cap);
    std::vector<double> losses;  // of 1, 2, ... trees per root
    std::uint32_t best_count = 1;
    const std::uint32_t most = only_root() ? kMostTreesOfOneRoot : kMostTreesOfBadRates;
    for (std::uint32_t k = 1; k <= most; ++k) {
      double loss = 0;
      for (const auto* graph : {&p.out, &p.in}) {
        if (*graph) loss = std::max(loss, best_unit_rate(**graph, k, p.rate).loss(p.rate));
      }
      losses.push_back(loss);
      if (loss < losses[best_count - 1] - kGoodLoss / 4) best_count = k;
      const bool suffices =
          !only_root() && k >= kMostTreesPerRoot && losses[best_count - 1] < kBadLoss;
      if (loss < kGoodLoss || suffices) break;
    }
    std::vector<std::uint32_t> counts{best_count};
    if (const std::uint32_t fewer = fewer_trees(losses, best_count); fewer < best_count) {
      counts.push_back(fewer);
    }
    if (counts.back() != 1) counts.push_back(1);
    bool ever_lost_rate = false;
    bool lost_rate = false;
    const auto plan = [&](std::uint32_t k) {
      lost_rate = plan_trees(p, k, growth);
      ever_lost_rate = ever_lost_rate || lost_rate;
    };
    for (const std::uint32_t k : counts) plan(k);
    // The few trees of one root, or of a group with relays, leave little choice of paths.
    for (std::uint32_t k = 4 * best_count; is_split_again(k, lost_rate); k *= 4) plan(k);
    return ever_lost_rate;
  }

  // A number of trees below `best` that may be better through switches. If rows repeat: the number
  // of least loss whose rows fit into a table. Otherwise: the smallest number that loses little
  // more, because its messages are longer.
  [[nodiscard]] std::uint32_t fewer_trees(const std::vector<double>& losses,
                                          std::uint32_t best) const {
    if (topology_.num_switches() == 0 || only_root()) return best;
    const std::size_t rows = (ranks_.size() - 1) * (reduces() && gathers() ? 2 : 1);
    std::uint32_t fewer = 1;
    for (std::uint32_t k = 1; k <= best; ++k) {
      if (request_.table_repeat) {
        const bool fits = request_.table_rows == 0 || k * rows <= request_.table_rows;
        if (fits && losses[k - 1] < losses[fewer - 1]) fewer = k;
      } else if (losses[k - 1] < losses[best - 1] + kFewerLoss) {
        return k;
      }
    }
    return fewer;
  }

  [[nodiscard]] bool is_split_again(std::uint32_t trees, bool lost_rate) const {
    const bool few = only_root() || !request_.relays.empty();
    return few && topology_.num_switches() != 0 && trees <= kMostSplitTrees &&
           request_.size / trees >= kLeastSplitData &&
           (lost_rate || ranks_.size() <= kFewSplitNodes);
  }

  // With either rule of how trees grow through switches. If one sequence of removing switches costs
  // rate, the other sequence is planned, too. Returns whether one of them costs rate.
  bool plan_trees(const Phases& p, std::uint32_t k, Growth growth) {
    bool lost_rate = false;
    for (const SwitchSequence sequence :
         {SwitchSequence::listed, SwitchSequence::fewest_neighbours}) {
      growth.sequence = sequence;
      for (const bool short_paths_first : {false, true}) {
        if (short_paths_first && topology_.num_switches() == 0) break;
        growth.short_paths_first = short_paths_first;
        lost_rate = plan_grown(p, k, growth) || lost_rate;
      }
      if (!lost_rate || is_near_bound(kGoodLoss)) break;
    }
    return lost_rate;
  }

  bool plan_grown(const Phases& p, std::uint32_t k, const Growth& growth) {
    TreeOps forest = empty_forest(k);
    Reduced reduced(forest.units);
    LinkOrder order =
        growth.root_of_paths ? LinkOrder(topology_, *growth.root_of_paths) : LinkOrder(topology_);
    bool lost_rate = false;
    for (const auto* graph : {&p.in, &p.out}) {
      if (!*graph) continue;
      const bool reversed = graph == &p.in;
      lost_rate =
          add_trees(**graph, k, p.rate, reversed, growth, order, forest, reduced) || lost_rate;
    }
    if (growth.rule == RateRule::own) {
      choice_.consider_stored(forest);
    } else {
      choice_.consider(std::move(forest));
    }
    return lost_rate;
  }

  // Adds `per_root` trees of every root: reduces towards the root in a reversed graph, copies away
  // from it otherwise. Returns whether safe paths cost rate.
  bool add_trees(const PackGraph& graph, std::uint32_t per_root, double rate, bool reversed,
                 const Growth& growth, LinkOrder& order, TreeOps& forest, Reduced& reduced) const {
    const UnitRate unit = best_unit_rate(graph, per_root, rate);
    NodeGraph direct = remove_switches(topology_, graph, unit.units, per_root, reversed,
                                       growth.rule, growth.sequence, order);
    // Paths that could deadlock are left out, which may cost rate.
    constexpr double kSlower = 0.97;
    bool lost_rate = false;
    for (double slower = unit.unit_rate; !trees_fit(direct.graph, direct.units, per_root);) {
      lost_rate = true;
      if (slower >= unit.unit_rate / kMostSlowdown) {
        slower *= kSlower;
        direct = remove_switches(topology_, graph, units_at(graph, slower), per_root, reversed,
                                 growth.rule, growth.sequence, order);
        continue;
      }
      slower /= 2;
      if (slower < unit.unit_rate / kMostPairSlowdown) {
        throw std::invalid_argument(
            "no trees fit whose paths through the switches cannot deadlock");
      }
      direct = join_pairs(topology_, graph, units_at(graph, slower), reversed, order);
    }
    std::vector<std::int64_t> demand(graph.nodes, 0);
    for (std::size_t n = 0; n < graph.nodes; ++n) demand[n] = graph.is_root(n) ? per_root : 0;
    std::vector<std::uint32_t> next(graph.nodes, 0);
    std::vector<PackedTree> trees =
        pack_out_trees(direct.graph, direct.units, demand, growth.short_paths_first);
    if (topology_.num_switches() != 0 && !only_root()) {
      trees = lower_trees(direct.graph, direct.units, edge_times(direct.graph, per_root), trees);
    }
    for (const PackedTree& tree : trees) {
      for (std::int64_t copy = 0; copy < tree.units; ++copy) {
        const std::size_t first = only_root() ? 0 : ranks_[tree.root] * per_root;
        add_tree(direct.graph, tree, first + next[tree.root]++, reversed, forest, reduced);
      }
    }
    return lost_rate;
  }

  // What a segment takes over each edge, if a tree's data are cut into a usual number of segments.
  [[nodiscard]] std::vector<std::uint64_t> edge_times(const PackGraph& graph,
                                                      std::uint32_t per_root) const {
    constexpr Bytes kUsualSegments = 64;
    const MessageTiming& timing = request_.timing;
    const Bytes segment = request_.size / graph.nodes / per_root / kUsualSegments;
    std::vector<std::uint64_t> times;
    for (const PackEdge& edge : graph.edges) {
      std::uint64_t ps = timing.injection_ps + timing.router_ps + timing.delivery_ps;
      for (const LinkId l : edge.path) {
        ps += topology_.link(l).spec.latency_ps + timing.router_ps;
      }
      constexpr double kPsPerSecond = 1e12;
      ps += static_cast<std::uint64_t>(static_cast<double>(segment) /
                                       static_cast<double>(edge.rate) * kPsPerSecond);
      times.push_back(ps);
    }
    return times;
  }

  void plan_undirected() {
    const PackGraph graph = pack_graph(topology_, false);
    const auto choices = best_undirected_trees(topology_, graph, kGoodLoss);
    if (choices.empty()) return;
    for (const std::vector<PackedTree>& trees : choices) add_undirected(graph, trees);
    if (!is_small(1)) return;
    for (const std::size_t count : {1U, 2U, 4U, 8U}) {
      add_undirected(graph, low_undirected_trees(topology_, graph, count));
    }
  }

  void add_undirected(const PackGraph& graph, const std::vector<PackedTree>& trees) {
    if (trees.empty()) return;
    TreeOps forest(topology_);
    forest.units = trees.size();
    for (std::size_t u = 0; u < trees.size(); ++u) {
      const auto reduced = add_reduces(graph, trees[u], u, false, forest);
      add_copies(graph, trees[u], u, reduced, forest);
    }
    choice_.consider(std::move(forest));
  }

  // Whether `times` the latencies there and back, at the slowest link's, take longer than the data
  // on the fastest link. With 1, hops count more than rates.
  [[nodiscard]] bool is_small(double times) const {
    std::uint64_t latency_ps = 0;
    std::uint64_t rate = 0;
    for (const TopologyLink& link : topology_.links()) {
      latency_ps = std::max(latency_ps, link.spec.latency_ps);
      rate = std::max(rate, link.spec.bytes_per_second);
    }
    const auto most_links = static_cast<double>(longest_distance(topology_));
    const double data = static_cast<double>(request_.size) / static_cast<double>(rate);
    constexpr double kPerSecond = 1e-12;
    return data <= times * 2 * most_links * static_cast<double>(latency_ps) * kPerSecond;
  }

  // ---- trees as ops ----

  // A message of a tree, in terms of the graph: of copies from `from` to `to`, of reduces back.
  struct TreeHop {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::vector<LinkId> path;
  };

  // The messages of a tree, parents first: one per edge; or, where its path passes relays, one from
  // relay to relay. A relay gets the data once, and its edges share it.
  [[nodiscard]] std::vector<TreeHop> hops_of(const PackGraph& graph, const PackedTree& tree,
                                             bool reversed) const {
    std::vector<bool> has(topology_.num_vertices(), false);
    has[tree.root] = true;
    std::vector<TreeHop> hops;
    for (const std::uint32_t e : tree.edges) {
      const PackEdge& edge = graph.edges[e];
      std::vector<TreeHop> way;
      TreeHop hop;
      hop.from = edge.from;
      for (const LinkId l : edge.path) {
        hop.path.push_back(l);
        hop.to = (reversed ? topology_.link(l).from : topology_.link(l).to).value();
        const bool relays = !request_.relays.empty() && request_.relays[hop.to];
        if (!relays && hop.to != edge.to) continue;
        // What comes before a relay that has the data already is not needed.
        if (has[hop.to]) {
          way.clear();
        } else {
          way.push_back(hop);
        }
        hop.from = hop.to;
        hop.path.clear();
      }
      for (TreeHop& h : way) {
        has[h.to] = true;
        hops.push_back(std::move(h));
      }
    }
    return hops;
  }

  RouteId route_of(const TreeHop& hop, bool against, TreeOps& forest) const {
    if (!against) return forest.routes.add(topology_, hop.path);
    // A reversed graph: the data go against the edge.
    return forest.routes.add(topology_, {hop.path.rbegin(), hop.path.rend()});
  }

  // A unit of a phase: reduces towards the root in a reversed graph, copies away from it otherwise.
  void add_tree(const PackGraph& graph, const PackedTree& tree, std::size_t unit, bool reversed,
                TreeOps& forest, Reduced& reduced) const {
    if (reversed) {
      reduced[unit] = add_reduces(graph, tree, unit, true, forest);
    } else {
      add_copies(graph, tree, unit, reduced[unit], forest);
    }
  }

  // Returns the reduces into the root. `reversed`: the edges of the graph are reversed links;
  // otherwise the links back are used.
  std::vector<std::uint32_t> add_reduces(const PackGraph& graph, const PackedTree& tree,
                                         std::size_t unit, bool reversed, TreeOps& forest) const {
    std::vector<std::vector<std::uint32_t>> into(topology_.num_vertices());
    const std::vector<TreeHop> hops = hops_of(graph, tree, reversed);
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
      RoundOp op;
      op.from = NodeId(hop->to);
      op.to = NodeId(hop->from);
      op.route = reversed ? route_of(*hop, true, forest)
                          : RouteSet::single(link_back(topology_, hop->path.front()));
      op.kind = TransferKind::reduce;
      op.unit = static_cast<std::uint32_t>(unit);
      op.after = into[hop->to];
      into[hop->from].push_back(static_cast<std::uint32_t>(forest.ops.size()));
      forest.ops.push_back(std::move(op));
    }
    return into[tree.root];
  }

  void add_copies(const PackGraph& graph, const PackedTree& tree, std::size_t unit,
                  const std::vector<std::uint32_t>& reduced, TreeOps& forest) const {
    std::vector<std::vector<std::uint32_t>> into(topology_.num_vertices());
    into[tree.root] = reduced;
    for (const TreeHop& hop : hops_of(graph, tree, false)) {
      RoundOp op;
      op.from = NodeId(hop.from);
      op.to = NodeId(hop.to);
      op.route = route_of(hop, false, forest);
      op.unit = static_cast<std::uint32_t>(unit);
      op.after = into[hop.from];
      into[hop.to] = {static_cast<std::uint32_t>(forest.ops.size())};
      forest.ops.push_back(std::move(op));
    }
  }

  const Topology& topology_;
  const CollectiveRequest& request_;
  std::vector<std::size_t> ranks_;  // by node
  SegmentSearch choice_;
};

std::string forest_unsuited(const Topology& topology) {
  if (std::string why = unsuited_for_times(topology, "forest"); !why.empty()) return why;
  const std::size_t most =
      topology.num_switches() == 0 ? kMostForestNodes : kMostNodesBehindSwitches;
  if (topology.num_nodes() <= most) return {};
  if (topology.num_switches() != 0 && topology.num_nodes() <= kMostShiftNodes &&
      shift_routes(topology)) {
    return {};
  }
  return fmt::format("forest plans up to {} nodes{}, and this network has {}", most,
                     topology.num_switches() == 0 ? "" : " behind switches", topology.num_nodes());
}

Schedule generate_forest(const Topology& topology, const CollectiveRequest& request) {
  return ForestBuilder(topology, request).build();
}

}  // namespace

Generator forest_row() {
  Generator row;
  row.name = "forest";
  row.summary = "trees at the optimal rate of any network, in an order chosen by planned time";
  row.ops = reduction_ops();
  row.ops.insert(row.ops.end(), {CollectiveOp::broadcast, CollectiveOp::reduce});
  row.parameters = {{"collective.segments", {}}, root_parameter(row.ops), {"collective.relay", {}}};
  row.unsuited = forest_unsuited;
  row.generate = generate_forest;
  row.plans_times = true;
  return row;
}

}  // namespace espalier
