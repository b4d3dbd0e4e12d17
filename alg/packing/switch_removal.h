// Replaces switches by direct edges between nodes, so that trees can be packed (edge splitting).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/packing/link_order.h"
#include "alg/packing/pack_graph.h"
#include "alg/schedule/message_timing.h"

namespace espalier {

struct NodeGraph {
  PackGraph graph;                  // without switches; edges of different paths stay apart
  std::vector<std::int64_t> units;  // by edge
  std::uint64_t work = 0;           // of removing switches, in about nanoseconds
};

// Which switch is taken out next. `fewest_neighbours`: where the edges of a switch leave no choice
// of how to join them, nothing is lost, and the other switches then have fewer edges to choose
// from.
enum class SwitchSequence : std::uint8_t { listed, fewest_neighbours };

// Takes the switches out one by one: an edge into a switch and an edge out of it become one edge,
// with as many units as leave room for `trees` trees per root (Bang-Jensen, Frank, Jackson 1995;
// ForestColl, Zhao et al. 2024). Paths keep to `order`. Where that costs rate, fewer trees than
// `trees` may fit into the result: the caller asks trees_fit(). `reversed`: as for pack_graph().
// `rule`: whether joining links of different rates costs more units of the faster one.
[[nodiscard]] NodeGraph remove_switches(const Topology& topology, const PackGraph& graph,
                                        const std::vector<std::int64_t>& units, std::uint32_t trees,
                                        bool reversed, RateRule rule, SwitchSequence sequence,
                                        LinkOrder& order);

// An alternative: one edge from every node to every node that it reaches through switches alone,
// over a shortest path in `order`. Paths share the units of a link evenly. Wasteful, but with
// enough units trees fit wherever such paths connect all nodes.
[[nodiscard]] NodeGraph join_pairs(const Topology& topology, const PackGraph& graph,
                                   const std::vector<std::int64_t>& units, bool reversed,
                                   LinkOrder& order);

}  // namespace espalier
