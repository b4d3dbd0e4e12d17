#include "alg/packing/forest_task.h"

#include <algorithm>
#include <utility>

#include "alg/packing/switch_removal.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

// A message of a tree, in terms of the graph: of copies from `from` to `to`, of reduces back.
struct TreeHop {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::vector<LinkId> path;
};

// The messages of a tree, parents first: one per edge; or, where its path passes relays, one from
// relay to relay. A relay gets the data once, and its edges share it.
std::vector<TreeHop> hops_of(const ForestTask& task, const PackGraph& graph, const PackedTree& tree,
                             bool reversed) {
  std::vector<bool> has(task.topology.num_vertices(), false);
  has[tree.root] = true;
  std::vector<TreeHop> hops;
  for (const std::uint32_t e : tree.edges) {
    const PackEdge& edge = graph.edges[e];
    std::vector<TreeHop> way;
    TreeHop hop;
    hop.from = edge.from;
    for (const LinkId l : edge.path) {
      hop.path.push_back(l);
      const TopologyLink& link = task.topology.link(l);
      hop.to = (reversed ? link.from : link.to).value();
      const bool relays = !task.request.relays.empty() && task.request.relays[hop.to];
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

}  // namespace

ForestTask::ForestTask(const Topology& the_topology, const CollectiveRequest& the_request)
    : topology(the_topology),
      request(the_request),
      is_switched(topology.num_switches() != 0),
      ranks(topology.num_nodes()) {
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[request.node_of(r).index()] = r;
  is_relayed = !request.relays.empty() &&
               std::all_of(request.relays.begin() + static_cast<std::ptrdiff_t>(ranks.size()),
                           request.relays.end(), [](bool relay) { return relay; });
  const CollectiveOp op = request.op;
  if (!starts_scattered(op)) phases.push_back(true);
  if (op != CollectiveOp::reduce_scatter && op != CollectiveOp::reduce) phases.push_back(false);
  if (is_rooted(op)) root = request.node_of(request.root).value();
}

bool ForestTask::is_near_bound(const SegmentSearch& search, double loss) const {
  if (search.empty() || root) return false;
  double seconds = 0;
  for (const bool reversed : phases) {
    seconds += static_cast<double>(request.size) / static_cast<double>(ranks.size()) /
               best_root_rate(pack_graph(topology, reversed));
  }
  constexpr double kPsPerSecond = 1e12;
  return seconds * kPsPerSecond >= (1 - loss) * static_cast<double>(search.time_ps());
}

bool ForestTask::is_small(double times) const {
  std::uint64_t latency_ps = 0;
  std::uint64_t rate = 0;
  for (const TopologyLink& link : topology.links()) {
    latency_ps = std::max(latency_ps, link.spec.latency_ps);
    rate = std::max(rate, link.spec.bytes_per_second);
  }
  const auto most_links = static_cast<double>(longest_distance(topology));
  const double data = static_cast<double>(request.size) / static_cast<double>(rate);
  constexpr double kPerSecond = 1e-12;
  return data <= times * 2 * most_links * static_cast<double>(latency_ps) * kPerSecond;
}

PackGraph ForestTask::paths_of_pairs(bool reversed, LinkOrder& order) const {
  PackGraph graph = pack_graph(topology, reversed);
  graph.root = root;
  const std::vector<std::int64_t> many(graph.edges.size(), std::int64_t{1} << 32);
  return join_pairs(topology, graph, many, reversed, order).graph;
}

TreeOps ForestTask::no_trees(std::uint32_t per_root) const {
  return {topology, per_root * (root ? 1 : ranks.size()), root ? 0 : per_root};
}

void ForestTask::add_tree(const PackGraph& graph, const PackedTree& tree, std::size_t unit,
                          bool reversed, TreeOps& trees) const {
  if (reversed) {
    add_reduces(graph, tree, unit, true, trees);
  } else {
    add_copies(graph, tree, unit, trees);
  }
}

void ForestTask::add_reduces(const PackGraph& graph, const PackedTree& tree, std::size_t unit,
                             bool reversed, TreeOps& trees) const {
  std::vector<std::vector<std::uint32_t>> into(topology.num_vertices());
  const std::vector<TreeHop> hops = hops_of(*this, graph, tree, reversed);
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    RoundOp op;
    op.from = NodeId(hop->to);
    op.to = NodeId(hop->from);
    op.route = reversed ? trees.routes.add(topology, {hop->path.rbegin(), hop->path.rend()})
                        : RouteSet::single(link_back(topology, hop->path.front()));
    op.kind = TransferKind::reduce;
    op.unit = static_cast<std::uint32_t>(unit);
    op.after = into[hop->to];
    into[hop->from].push_back(static_cast<std::uint32_t>(trees.ops.size()));
    trees.ops.push_back(std::move(op));
  }
  trees.reduced[unit] = into[tree.root];
}

void ForestTask::add_copies(const PackGraph& graph, const PackedTree& tree, std::size_t unit,
                            TreeOps& trees) const {
  std::vector<std::vector<std::uint32_t>> into(topology.num_vertices());
  into[tree.root] = trees.reduced[unit];
  for (const TreeHop& hop : hops_of(*this, graph, tree, false)) {
    RoundOp op;
    op.from = NodeId(hop.from);
    op.to = NodeId(hop.to);
    op.route = trees.routes.add(topology, hop.path);
    op.unit = static_cast<std::uint32_t>(unit);
    op.after = into[hop.from];
    into[hop.to] = {static_cast<std::uint32_t>(trees.ops.size())};
    trees.ops.push_back(std::move(op));
  }
}

}  // namespace espalier
