#include "alg/packing/forest_task.h"

#include <algorithm>
#include <utility>

#include "alg/packing/switch_removal.h"
#include "alg/routes/links.h"

namespace espalier {

ForestTask::ForestTask(const Topology& the_topology, const CollectiveRequest& the_request)
    : topology(the_topology),
      request(the_request),
      is_switched(topology.num_switches() != 0),
      ranks(topology.num_nodes()) {
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[request.node_of(r).index()] = r;
  const CollectiveOp op = request.op;
  if (!starts_scattered(op)) phases.push_back(true);
  if (!ends_at_owner(op)) phases.push_back(false);
  if (is_rooted(op)) root = request.node_of(request.root).value();
}

double ForestTask::bound_seconds() const {
  double seconds = 0;
  for (const bool reversed : phases) {
    PackGraph graph = pack_graph(topology, reversed);
    graph.root = root;
    seconds += static_cast<double>(request.size) / static_cast<double>(graph.num_roots()) /
               best_root_rate(graph);
  }
  return seconds;
}

bool ForestTask::is_near_bound(const SegmentSearch& search, double loss) const {
  constexpr double kPsPerSecond = 1e12;
  return !search.empty() && !root &&
         bound_seconds() * kPsPerSecond >= (1 - loss) * static_cast<double>(search.time_ps());
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
  for (auto e = tree.edges.rbegin(); e != tree.edges.rend(); ++e) {
    const PackEdge& edge = graph.edges[*e];
    RoundOp op;
    op.from = NodeId(edge.to);
    op.to = NodeId(edge.from);
    std::vector<LinkId> path(edge.path.rbegin(), edge.path.rend());
    for (LinkId& l : path) l = reversed ? l : link_back(topology, l);
    op.route = trees.routes.add(topology, path);
    op.kind = TransferKind::reduce;
    op.unit = static_cast<std::uint32_t>(unit);
    op.after = into[edge.to];
    into[edge.from].push_back(static_cast<std::uint32_t>(trees.ops.size()));
    trees.ops.push_back(std::move(op));
  }
  trees.reduced[unit] = into[tree.root];
}

void ForestTask::add_copies(const PackGraph& graph, const PackedTree& tree, std::size_t unit,
                            TreeOps& trees) const {
  std::vector<std::vector<std::uint32_t>> into(topology.num_vertices());
  into[tree.root] = trees.reduced[unit];
  for (const std::uint32_t e : tree.edges) {
    const PackEdge& edge = graph.edges[e];
    RoundOp op;
    op.from = NodeId(edge.from);
    op.to = NodeId(edge.to);
    op.route = trees.routes.add(topology, edge.path);
    op.unit = static_cast<std::uint32_t>(unit);
    op.after = into[edge.from];
    into[edge.to] = {static_cast<std::uint32_t>(trees.ops.size())};
    trees.ops.push_back(std::move(op));
  }
}

}  // namespace espalier
