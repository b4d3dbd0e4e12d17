// Routes between any two nodes for algorithms whose messages take several hops.
#pragma once

#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier {

// route_packet's routes, each computed and stored once.
class NodeRoutes {
 public:
  // Both outlive this object; routes are added to `routes`.
  NodeRoutes(const Topology& topology, RouteSet& routes)
      : topology_(topology), routes_(routes), known_(topology.num_nodes() * topology.num_nodes()) {}

  // Precondition: from != to.
  [[nodiscard]] RouteId between(NodeId from, NodeId to);

 private:
  const Topology& topology_;
  RouteSet& routes_;
  std::vector<RouteId> known_;  // from * nodes + to; invalid until it is asked for
};

// Messages a step that every node can send and receive at once: its links, at most one for each
// other node. Precondition: at least two nodes.
[[nodiscard]] std::size_t messages_per_step(const Topology& topology);

// Why messages cannot be routed between all nodes; empty where they can. See Generator::unsuited.
[[nodiscard]] std::string unsuited_for_routes(const Topology& topology);

}  // namespace espalier
