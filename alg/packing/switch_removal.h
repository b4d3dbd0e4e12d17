// Replaces switches by direct edges between nodes, so that trees can be packed (edge splitting).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/packing/pack_graph.h"

namespace espalier {

// Which link may follow which in a path, so that paths cannot deadlock: the graph of links that
// wait for each other stays free of cycles. All paths of a schedule share one object. It begins
// with the pairs that alg/routes/path_rule.h allows (up, then down) and admits others as long as
// they close no cycle.
class LinkOrder {
 public:
  explicit LinkOrder(const Topology& topology);
  // Whether `second` may follow `first` at the switch between them. Admits a new pair only if
  // `more`.
  bool admits(LinkId first, LinkId second, bool more);

 private:
  [[nodiscard]] bool reaches(std::uint32_t from, std::uint32_t to);

  const Topology& topology_;
  std::vector<std::vector<std::uint32_t>> after_;  // by link: the links that may follow
  std::vector<std::uint32_t> seen_;
  std::uint32_t search_ = 0;
  std::vector<std::uint32_t> stack_;
};

struct NodeGraph {
  PackGraph graph;                  // without switches; edges of different paths stay apart
  std::vector<std::int64_t> units;  // by edge
};

// Takes the switches out one by one: an edge into a switch and an edge out of it become one edge,
// with as many units as leave room for `trees` trees per root (Bang-Jensen, Frank, Jackson 1995;
// ForestColl, Zhao et al. 2024). Paths keep to `order`. Where that costs rate, fewer trees than
// `trees` may fit into the result: the caller asks trees_fit(). `reversed`: as for pack_graph().
[[nodiscard]] NodeGraph remove_switches(const Topology& topology, const PackGraph& graph,
                                        const std::vector<std::int64_t>& units, std::uint32_t trees,
                                        bool reversed, LinkOrder& order);

}  // namespace espalier
