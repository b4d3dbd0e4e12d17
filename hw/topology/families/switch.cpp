// All nodes at one switch.
#include <fmt/format.h>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

NetworkSize size_of_switch(const NetworkSpec& spec) {
  const std::uint64_t nodes = spec.number("nodes");
  return size_of_leaves(fmt::format("switch {}", nodes), nodes, 1, 0);
}

Topology build_switch(const NetworkSpec& spec, LinkSpec link) {
  const NetworkSize size = size_of_switch(spec);
  Topology topology = make_leaves(size.name, size.nodes, 1, 0, link);
  topology.set_shape(leaves_shape(topology, size.nodes, {}));
  return topology;
}

}  // namespace

Family switch_family() {
  return Family(4, "switch", "nodes; one switch between them", {nodes_key()},
                "system.topology.nodes", size_of_switch, build_switch);
}

}  // namespace espalier
