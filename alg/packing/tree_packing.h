// Packs spanning trees into a network of nodes: directed out-trees with one or more roots at every
// node (for all_gather, reduce_scatter, broadcast, reduce), and undirected trees (for all_reduce).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "alg/packing/pack_graph.h"
#include "alg/schedule/message_timing.h"
#include "alg/schedule/work_budget.h"

namespace espalier {

// Functions that take a budget find nothing, or what they have so far, once it is spent.

// A spanning tree: edge indices into the graph, parents before their children. `units` copies of it
// are used side by side.
struct PackedTree {
  std::uint32_t root = 0;
  std::int64_t units = 1;
  std::vector<std::uint32_t> edges;
};

// Edges by the vertex from which they lead.
using EdgesOut = std::vector<std::vector<std::uint32_t>>;
[[nodiscard]] EdgesOut edges_out(const PackGraph& graph, const std::vector<std::uint32_t>& edges);
// The tree that a search breadth first finds from the root, and its height.
[[nodiscard]] std::pair<PackedTree, std::uint32_t> tree_from(std::uint32_t root,
                                                             const PackGraph& graph,
                                                             const EdgesOut& out);
// A tree whose edges lead both ways, rooted where the farthest vertex is nearest.
[[nodiscard]] PackedTree root_at_centre(const PackGraph& graph, const EdgesOut& tree);

// Packs `demand[r]` out-trees with root r into the units of the edges (Edmonds' branchings with
// multiplicities: Edmonds 1973; Berczi and Frank 2010). Trees grow low: each takes the edge whose
// tail is nearest to its root, or, if `short_paths_first`, among the edges over the fewest links,
// which leaves links between switches to the trees that need them. Preconditions: the graph has
// no switches; the trees fit (trees_fit, with these demands).
[[nodiscard]] std::vector<PackedTree> pack_out_trees(const PackGraph& graph,
                                                     const std::vector<std::int64_t>& units,
                                                     const std::vector<std::int64_t>& demand,
                                                     bool short_paths_first,
                                                     const WorkBudget& budget = WorkBudget());

// The same trees with shorter ways: two trees may exchange the edges over which they reach a node,
// and take units that no tree uses. One unit each. `edge_ps`: the time over an edge, above 0.
[[nodiscard]] std::vector<PackedTree> lower_trees(const PackGraph& graph,
                                                  const std::vector<std::int64_t>& units,
                                                  const std::vector<std::uint64_t>& edge_ps,
                                                  const std::vector<PackedTree>& trees);

// `count` undirected spanning trees such that a pair is in at most `units` of them, or nothing if
// they do not exist (matroid partition, Edmonds 1965). Edges come in pairs of opposite directions;
// `pairs` lists each pair once. Every tree is rooted at its centre; its edges then lead away from
// the root, and may be either edge of the pair.
struct EdgePair {
  std::uint32_t there = 0;
  std::uint32_t back = 0;
  std::int64_t units = 0;
};
[[nodiscard]] std::optional<std::vector<PackedTree>> pack_undirected_trees(
    const PackGraph& graph, const std::vector<EdgePair>& pairs, std::size_t count,
    const WorkBudget& budget = WorkBudget());

// Undirected trees of the highest total rate, as few as reach it within `good_loss` / 4 of the
// bound by the network's links and by each node's; then more trees, up to 32, of about the same
// rate, which may be lower. Every tree carries the same share of an all_reduce's data. Empty if
// some link has no link back. Precondition: no switches, no link of rate 0.
[[nodiscard]] std::vector<std::vector<PackedTree>> best_undirected_trees(
    const Topology& topology, const PackGraph& graph, double good_loss,
    const WorkBudget& budget = WorkBudget());

// One out-tree from every root, over the links that the trees before occupy least. `shortest`:
// every path has the least latency. `same_height`: a path may be longer, but no longer than the
// longest of a shortest tree from that root; slow links then carry fewer messages. Empty if a node
// cannot be reached. Preconditions: the graph has no switches; no link of rate 0.
enum class LowTrees : std::uint8_t { shortest, same_height };
[[nodiscard]] std::vector<PackedTree> low_out_trees(const Topology& topology,
                                                    const PackGraph& graph, LowTrees kind);

// `count` trees of shortest paths from nodes in the middle of the network, over links that the
// trees before use least: for data so small that hops count more than rates. Empty if fewer nodes
// are in the middle. Precondition: no switches; every node reaches every other.
[[nodiscard]] std::vector<PackedTree> low_undirected_trees(const Topology& topology,
                                                           const PackGraph& graph,
                                                           std::size_t count);

struct TimedTree {
  PackedTree tree;
  std::vector<std::uint64_t> start_ps;  // by edge of the tree: of its message
};

// Which neighbour gets a piece for which nodes behind it wait: any free neighbour (`busy`), or the
// neighbour with the fewest such pieces, even if the link has to wait for it (`balanced`).
enum class TimedOrder : std::uint8_t { busy, balanced };

// `pieces` trees of every root, root by root, for a piece of `bytes` each, that grow in time
// (README.md). Every message finds all links of its path free. `reversed`: reduces over a reversed
// graph, mirrored in time. Empty if some piece does not reach every node. Preconditions: the graph
// has no switches; no link of rate 0.
[[nodiscard]] std::vector<TimedTree> timed_out_trees(const Topology& topology,
                                                     const PackGraph& graph, std::uint32_t pieces,
                                                     Bytes bytes, const MessageTiming& timing,
                                                     TimedOrder order, bool reversed,
                                                     const WorkBudget& budget = WorkBudget());

}  // namespace espalier
