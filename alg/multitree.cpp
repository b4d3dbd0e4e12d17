// MULTITREE: the trees of Algorithm 1 as a schedule. The all-gather follows the trees from the
// roots down, the reduce-scatter is its mirror in time (section III-C1).
#include <fmt/format.h>

#include <algorithm>

#include "alg/generator.h"
#include "alg/tree_forest.h"

namespace espalier {

namespace {

std::ptrdiff_t links_between(const Topology& topology, NodeId from, NodeId to) {
  const auto& out = topology.out_links(from);
  return std::count_if(out.begin(), out.end(), [&](LinkId l) { return topology.link(l).to == to; });
}

}  // namespace

std::string unsuited_for_multitree(const Topology& topology) {
  if (topology.num_switches() != 0) return "multitree needs a network without switches";
  for (const TopologyLink& link : topology.links()) {
    if (links_between(topology, link.from, link.to) !=
        links_between(topology, link.to, link.from)) {
      return fmt::format(
          "multitree's reduce-scatter is the mirror of its all-gather: it needs as many links {} "
          "-> {} as back",
          topology.vertex_name(link.from), topology.vertex_name(link.to));
    }
  }
  return {};
}

namespace {

class TreeScheduler {
 public:
  TreeScheduler(const Topology& topology, const CollectiveRequest& request)
      : topology_(topology),
        request_(request),
        forest_(build_trees(topology, request.tree_order)),
        schedule_(topology) {}

  Schedule build() {
    const std::size_t nodes = topology_.num_nodes();
    const bool both = request_.op == CollectiveOp::all_reduce;
    schedule_.algorithm = "multitree";
    schedule_.op = request_.op;
    schedule_.num_nodes = nodes;
    schedule_.size = request_.size;
    schedule_.num_steps = forest_.num_steps * (both ? 2 : 1);
    for (std::size_t n = 0; n < nodes; ++n) {
      schedule_.ni_ports = std::max<std::uint32_t>(
          schedule_.ni_ports, static_cast<std::uint32_t>(topology_.out_links(NodeId(n)).size()));
    }
    const auto offsets = cut_evenly(request_.size, nodes, request_.element_bytes);
    for (std::size_t n = 0; n < nodes; ++n) {
      schedule_.chunks.push_back({offsets[n], offsets[n + 1] - offsets[n], NodeId(n)});
    }
    for (std::size_t root = 0; root < nodes; ++root) {
      if (schedule_.chunks[root].size == 0) continue;
      arrivals_.assign(nodes, {});
      if (request_.op != CollectiveOp::all_gather) add_reduce_scatter(root);
      if (request_.op != CollectiveOp::reduce_scatter) add_all_gather(root, both);
    }
    schedule_.sort_by_step();
    return std::move(schedule_);
  }

 private:
  // Children were added after their parents, so backwards every node's children come before it.
  void add_reduce_scatter(std::size_t root) {
    const auto& edges = forest_.trees[root];
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      const LinkId up = reverse_of(*edge);
      const auto id =
          schedule_.add(transfer(root, edge->child, edge->parent, up, TransferKind::reduce,
                                 forest_.num_steps - edge->step + 1),
                        arrivals_[edge->child.index()]);
      arrivals_[edge->parent.index()].push_back(id);
    }
  }

  void add_all_gather(std::size_t root, bool after_reduce_scatter) {
    const auto first = after_reduce_scatter ? forest_.num_steps : 0;
    // What a node waits for: the root for the Reduces of its children, others for the Gather of
    // their parent.
    for (std::size_t n = 0; n < arrivals_.size(); ++n) {
      if (n != root) arrivals_[n].clear();
    }
    for (const TreeEdge& edge : forest_.trees[root]) {
      const auto id = schedule_.add(
          transfer(root, edge.parent, edge.child, edge.link, TransferKind::copy, first + edge.step),
          arrivals_[edge.parent.index()]);
      arrivals_[edge.child.index()].push_back(id);
    }
  }

  [[nodiscard]] static Transfer transfer(std::size_t root, NodeId from, NodeId to, LinkId link,
                                         TransferKind kind, Timestep step) {
    return {from, to, FlowId(root), ChunkId(root), 1, RouteSet::single(link), step, kind};
  }

  // The link from child to parent beside `edge`: of several parallel ones, the one at the same
  // place in the order, so that the mirror of a contention-free step is contention-free.
  [[nodiscard]] LinkId reverse_of(const TreeEdge& edge) const {
    std::size_t place = 0;
    for (const LinkId l : topology_.out_links(edge.parent)) {
      if (l == edge.link) break;
      if (topology_.link(l).to == edge.child) ++place;
    }
    for (const LinkId l : topology_.out_links(edge.child)) {
      if (topology_.link(l).to == edge.parent && place-- == 0) return l;
    }
    return {};  // excluded by unsuited_for_multitree
  }

  const Topology& topology_;
  const CollectiveRequest& request_;
  const TreeForest forest_;
  Schedule schedule_;
  std::vector<std::vector<TransferId>> arrivals_;  // by node, of the flow being added
};

}  // namespace

Schedule generate_multitree(const Topology& topology, const CollectiveRequest& request) {
  return TreeScheduler(topology, request).build();
}

}  // namespace espalier
