// Two switches, and as many parallel links between them as each has nodes: one physical network of
// a DGX-2.
#include <fmt/format.h>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

NetworkSize size_of_pair(const NetworkSpec& spec) {
  const std::uint64_t nodes = spec.number("nodes_per_switch");
  return size_of_leaves(fmt::format("dgx2 {}x2", nodes), nodes, 2, nodes);
}

Topology build_pair(const NetworkSpec& spec, LinkSpec link) {
  const std::size_t nodes = spec.number("nodes_per_switch");
  Topology topology = make_leaves(size_of_pair(spec).name, nodes, 2, 0, link);
  for (std::size_t i = 0; i < nodes; ++i) {
    add_cable(topology, leaf_switch(topology, 0), leaf_switch(topology, 1), link,
              fmt::format("_{}", i));
  }
  const auto cross = [nodes](NodeId, NodeId to, std::uint32_t channel, Walk& walk) {
    walk.leave_by(nodes + (to.index() + channel) % nodes);
  };
  topology.set_shape(leaves_shape(topology, nodes, cross));
  return topology;
}

}  // namespace

Family dgx2_family() {
  Family row(5, "dgx2", "nodes_per_switch; two switches, as many links between them",
             {nodes_per_switch_key()}, "system.topology.nodes_per_switch", size_of_pair,
             build_pair);
  row.server = leaf_as_server;
  return row;
}

}  // namespace espalier
