// MULTITREE: the trees of Algorithm 1 (tree_forest.cpp) as a schedule. The all-gather follows the
// trees from the roots down; the reduce-scatter is its mirror in time (MultiTree, section III-C1).
// The all-to-all is an all-gather that sends only its own data to each subtree (section VII-B).
#include "alg/generators/multitree.h"

#include <fmt/format.h>

#include <utility>

#include "alg/routes/links.h"

namespace espalier {

namespace {

class TreeScheduler {
 public:
  TreeScheduler(const Topology& topology, const CollectiveRequest& request, TreeForest forest,
                const char* algorithm)
      : topology_(topology),
        request_(request),
        forest_(std::move(forest)),
        schedule_(empty_schedule(algorithm, topology, request)) {
    schedule_.routes = forest_.paths;
    schedule_.num_steps = forest_.num_steps * (request_.op == CollectiveOp::all_reduce ? 2 : 1);
    schedule_.ni_ports = most_links_of_a_node(topology_);
    offsets_ = cut_evenly(request_.size, topology_.num_nodes(), request_.element_bytes);
  }

  Schedule build() {
    const std::size_t nodes = topology_.num_nodes();
    if (request_.op == CollectiveOp::all_to_all) {
      rank_of_.resize(nodes);
      for (std::size_t r = 0; r < nodes; ++r) rank_of_[request_.node_of(r).index()] = r;
      for (std::size_t rank = 0; rank < nodes; ++rank) add_all_to_all(rank);
    } else {
      for (std::size_t r = 0; r < nodes; ++r) {
        schedule_.chunks.push_back(
            {offsets_[r], offsets_[r + 1] - offsets_[r], request_.node_of(r)});
      }
      for (std::size_t rank = 0; rank < nodes; ++rank) {
        if (schedule_.chunks[rank].size == 0) continue;
        arrivals_.assign(nodes, {});
        if (request_.op != CollectiveOp::all_gather) add_reduce_scatter(rank);
        if (request_.op != CollectiveOp::reduce_scatter) add_all_gather(rank);
      }
    }
    schedule_.sort_by_step();
    return std::move(schedule_);
  }

 private:
  // Children were added after their parents, so in reverse order children come before their
  // parents.
  void add_reduce_scatter(std::size_t rank) {
    const auto& edges = forest_.trees[root_of(rank)];
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      Transfer t = transfer(rank, edge->child, edge->parent, path_back(edge->path));
      t.kind = TransferKind::reduce;
      t.step = forest_.num_steps - edge->step + 1;
      arrivals_[edge->parent.index()].push_back(schedule_.add(t, arrivals_[edge->child.index()]));
    }
  }

  void add_all_gather(std::size_t rank) {
    const std::size_t root = root_of(rank);
    const auto first = request_.op == CollectiveOp::all_reduce ? forest_.num_steps : 0;
    // The root waits for the Reduces of its children; every other node waits for the Gather of its
    // parent.
    for (std::size_t n = 0; n < arrivals_.size(); ++n) {
      if (n != root) arrivals_[n].clear();
    }
    for (const TreeEdge& edge : forest_.trees[root]) {
      Transfer t = transfer(rank, edge.parent, edge.child, edge.path);
      t.step = first + edge.step;
      arrivals_[edge.child.index()].push_back(schedule_.add(t, arrivals_[edge.parent.index()]));
    }
  }

  void add_all_to_all(std::size_t rank) {
    const std::size_t root = root_of(rank);
    const auto& edges = forest_.trees[root];
    const std::size_t nodes = topology_.num_nodes();
    const std::size_t first_chunk = rank * nodes;
    // The sizes of the subtrees give every node's position in depth-first order: a child comes
    // after its parent and after the subtrees of its earlier siblings.
    std::vector<std::uint32_t> below(nodes, 1);
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      below[edge->parent.index()] += below[edge->child.index()];
    }
    std::vector<std::size_t> place(nodes, 0);
    std::vector<std::size_t> next(nodes, 1);
    std::vector<NodeId> at(nodes);
    at[0] = NodeId(root);
    for (const TreeEdge& edge : edges) {
      place[edge.child.index()] = next[edge.parent.index()];
      next[edge.parent.index()] += below[edge.child.index()];
      next[edge.child.index()] = place[edge.child.index()] + 1;
      at[place[edge.child.index()]] = edge.child;
    }
    Bytes offset = rank * request_.size;
    for (const NodeId to : at) {
      const std::size_t share = rank_of_[to.index()];
      const Bytes size = offsets_[share + 1] - offsets_[share];
      schedule_.chunks.push_back({offset, size, NodeId(root), to});
      offset += size;
    }
    arrivals_.assign(nodes, {});
    for (const TreeEdge& edge : edges) {
      Transfer t = transfer(rank, edge.parent, edge.child, edge.path);
      t.first_chunk = ChunkId(first_chunk + place[edge.child.index()]);
      t.num_chunks = below[edge.child.index()];
      t.step = edge.step;
      if (schedule_.bytes_of(t) == 0) continue;
      arrivals_[edge.child.index()].push_back(schedule_.add(t, arrivals_[edge.parent.index()]));
    }
  }

  [[nodiscard]] std::size_t root_of(std::size_t rank) const {
    return request_.node_of(rank).index();
  }

  [[nodiscard]] static Transfer transfer(std::size_t rank, NodeId from, NodeId to, RouteId route) {
    Transfer t;
    t.from = from;
    t.to = to;
    t.flow = FlowId(rank);
    t.first_chunk = ChunkId(rank);
    t.route = route;
    return t;
  }

  [[nodiscard]] RouteId path_back(RouteId path) {
    std::vector<LinkId> links;
    for (std::size_t hop = schedule_.routes.hops(path); hop-- > 0;) {
      links.push_back(link_back(topology_, schedule_.routes.link(path, hop)));
    }
    return schedule_.routes.add(topology_, links);
  }

  const Topology& topology_;
  const CollectiveRequest& request_;
  const TreeForest forest_;
  Schedule schedule_;
  std::vector<Bytes> offsets_;                     // of the chunks of one rank's data
  std::vector<std::size_t> rank_of_;               // by node; all_to_all
  std::vector<std::vector<TransferId>> arrivals_;  // by node, of the flow being added
};

}  // namespace

std::string unsuited_for_mirrored_trees(const Topology& topology, const std::string& algorithm) {
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    if (link_back(topology, LinkId(l)).valid()) continue;
    const TopologyLink& there = topology.link(LinkId(l));
    return fmt::format(
        "{} reverses its all-gather to reduce, so it needs as many links {} -> {} as in the other "
        "direction",
        algorithm, topology.vertex_name(there.from), topology.vertex_name(there.to));
  }
  return {};
}

Schedule schedule_trees(const Topology& topology, const CollectiveRequest& request,
                        TreeForest forest, const char* algorithm) {
  return TreeScheduler(topology, request, std::move(forest), algorithm).build();
}

namespace {

std::string unsuited_for_multitree(const Topology& topology) {
  return unsuited_for_mirrored_trees(topology, "multitree");
}

Schedule generate_multitree(const Topology& topology, const CollectiveRequest& request) {
  return schedule_trees(topology, request, build_trees(topology, request), "multitree");
}

}  // namespace

Generator multitree_row() {
  Generator row("multitree",
                "MultiTree, Algorithm 1: one tree per node, built together, contention-free",
                {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
                 CollectiveOp::all_to_all},
                unsuited_for_multitree, generate_multitree);
  row.parameters = {{"collective.tree_order", {}}, {"collective.step_end", {}}};
  row.pair_work = 800;
  row.has_own_routes = true;
  row.roots_wait = true;
  row.look = 0;
  return row;
}

}  // namespace espalier
