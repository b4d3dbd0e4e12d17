// Every node has a link to every other node. Port j of node v leads to node (v + j + 1) mod N, so a
// port has the same direction at every node.
#include <fmt/format.h>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

NetworkSize size_of_complete(const NetworkSpec& spec) {
  const std::uint64_t nodes = spec.number("nodes");
  return {fmt::format("fully_connected {}", nodes), nodes, nodes * (nodes - 1), nodes - 1};
}

Topology build_complete(const NetworkSpec& spec, LinkSpec link) {
  const NetworkSize size = size_of_complete(spec);
  Topology topology(size.name);
  for (std::size_t n = 0; n < size.nodes; ++n) topology.add_node(fmt::format("n_{}", n));
  // Links are added port by port, so that an input port too has the same direction at every node.
  for (std::size_t port = 0; port + 1 < size.nodes; ++port) {
    for (std::size_t n = 0; n < size.nodes; ++n) {
      const NodeId to((n + port + 1) % size.nodes);
      topology.add_link(NodeId(n), to, link, port_to(topology, to), port_to(topology, NodeId(n)));
    }
  }
  return topology;
}

}  // namespace

Family fully_connected_family() {
  return Family(3, "fully_connected", "nodes; every node linked to every other", {nodes_key()},
                "system.topology.nodes", size_of_complete, build_complete);
}

}  // namespace espalier
