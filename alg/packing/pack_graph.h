// The network as trees are packed into it: how much every link carries, and the rate that an
// all-gather can reach.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alg/flow/max_flow.h"
#include "hw/topology/topology.h"

namespace espalier {

struct PackEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t rate = 0;  // bytes per second
  // The links from `from` to `to`; several after switches are taken out. In a reversed graph the
  // data travel from `to` to `from`, by these links in reverse order.
  std::vector<LinkId> path;
};

struct PackGraph {
  std::size_t nodes = 0;     // vertices [0, nodes)
  std::size_t vertices = 0;  // switches behind the nodes
  std::vector<PackEdge> edges;
  // The only root (broadcast, reduce); otherwise every node is a root.
  std::optional<std::uint32_t> root;

  [[nodiscard]] bool is_root(std::size_t node) const { return !root || node == *root; }
  [[nodiscard]] std::size_t num_roots() const { return root ? 1 : nodes; }
};

// `reversed`: every link in the other direction, for a reduce-scatter, which is an all-gather of
// the reversed network mirrored in time. Edges have the order of the links.
[[nodiscard]] PackGraph pack_graph(const Topology& topology, bool reversed);

// The most bytes per second that each root can send to all others at the same time: the minimum,
// over sets of vertices X that lack a node, of X's rate outwards over the roots in X. Exact but for
// the last rounding. Precondition: strongly connected.
[[nodiscard]] double best_root_rate(const PackGraph& graph);

// Trees carry `unit_rate` each, `trees` of them per root, and an edge serves units[e] of them.
struct UnitRate {
  std::uint32_t trees = 1;
  double unit_rate = 0;
  std::vector<std::int64_t> units;  // by edge
  // The share of the best rate that is lost, because edges serve whole trees only.
  [[nodiscard]] double loss(double best_rate) const { return 1 - unit_rate * trees / best_rate; }
};
// The largest unit rate for which `trees` trees per root fit, by the condition that every set of
// vertices can be entered (Edmonds 1973, Frank 1978).
[[nodiscard]] UnitRate best_unit_rate(const PackGraph& graph, std::uint32_t trees,
                                      double best_rate);
// Edges with the units that they serve at this rate.
[[nodiscard]] std::vector<std::int64_t> units_at(const PackGraph& graph, double unit_rate);
// Whether `trees` trees per root fit into these units.
[[nodiscard]] bool trees_fit(const PackGraph& graph, const std::vector<std::int64_t>& units,
                             std::int64_t trees);

}  // namespace espalier
