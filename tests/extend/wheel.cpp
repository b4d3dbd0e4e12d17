// Step 1 of "Adding a topology" (CONTRIBUTING.md): one .cpp with the family and its row.
//
// WHEEL: nodes on a rim, each linked to the next one, and a hub with a spoke to every node.
#include <fmt/format.h>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

NetworkSize size_of_wheel(const NetworkSpec& spec) {
  const std::uint64_t nodes = spec.number("rim");
  return {fmt::format("wheel {}", nodes), nodes, 4 * nodes, nodes};
}

Topology build_wheel(const NetworkSpec& spec, LinkSpec link) {
  const NetworkSize size = size_of_wheel(spec);
  Topology topology(size.name);
  for (std::size_t n = 0; n < size.nodes; ++n) topology.add_node(fmt::format("n_{}", n));
  const NodeId hub = topology.add_switch("hub");
  const LinkSpec spoke = spec.link("spoke", link);
  for (std::size_t n = 0; n < size.nodes; ++n) {
    add_cable(topology, NodeId(n), NodeId((n + 1) % size.nodes), link);
    add_cable(topology, NodeId(n), hub, spoke);
  }
  NetworkShape shape;
  shape.route = [hub](const Topology& network, NodeId from, NodeId to, std::uint32_t) {
    Walk walk(network, from);
    if (!network.link_between(from, to).valid()) walk.go_to(hub);
    walk.go_to(to);
    return walk.links();
  };
  shape.picture = {{{hub}}, {vertices_from(0, size.nodes)}};
  topology.set_shape(std::move(shape));
  return topology;
}

}  // namespace

Family wheel_family() {
  const FamilyKey rim = required_count("rim", "number of accelerators on the rim", 3);
  return Family(
      15, "wheel", "rim; neighbours linked, and a hub with a spoke to each",
      {rim, latency_key("spoke", "from rim to hub"), bandwidth_key("spoke", "from rim to hub")},
      "system.topology.rim", size_of_wheel, build_wheel);
}

}  // namespace espalier
