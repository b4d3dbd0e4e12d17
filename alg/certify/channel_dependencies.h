// Orders and cycles of waiting: a topological sort, and the channel dependency graph of routes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

struct Precedence {
  std::uint32_t before;
  std::uint32_t after;
};

struct TopologicalOrder {
  std::vector<std::uint32_t> order;  // all vertices if there is no cycle
  // Each vertex comes after the next one, and the last after the first. Empty if there is no cycle.
  std::vector<std::uint32_t> cycle;
};

// Deterministic: vertices enter the order as their last predecessor does, lower numbers first.
// Iterative and linear, for millions of vertices.
[[nodiscard]] TopologicalOrder sort_topologically(std::size_t vertices,
                                                  const std::vector<Precedence>& precedences);

// Deadlock freedom of oblivious routes by the channel dependency graph (Dally and Seitz, IEEE ToC
// C-36(5), 1987): a packet in one virtual channel may wait for the next channel of its route. If
// these waits form no cycle, packets cannot block each other in a cycle, by wormhole or by
// cut-through.
class ChannelDependencies {
 public:
  // Routes keep to the VC classes of vc_class_after(); `vc_classes` classes are kept apart, higher
  // classes share the last one. The topology must outlive this object.
  ChannelDependencies(const Topology& topology, std::uint32_t vc_classes);

  void add(const RouteSet& routes, RouteId route);
  // One cycle in words; empty if there is no cycle.
  [[nodiscard]] std::string cycle();

 private:
  void sort_out();

  const Topology& topology_;
  std::uint32_t classes_;
  std::vector<Precedence> waits_;  // a packet holds `after` until it gets `before`
  std::size_t sort_at_;
};

}  // namespace espalier
