#include "hw/topology/cables.h"

#include <algorithm>

namespace espalier {

std::string port_to(const Topology& topology, NodeId vertex) {
  std::string name = topology.vertex_name(vertex);
  name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
  return name;
}

void add_cable(Topology& topology, NodeId a, NodeId b, LinkSpec spec, const std::string& suffix) {
  const std::string at_a = port_to(topology, b) + suffix;
  const std::string at_b = port_to(topology, a) + suffix;
  topology.add_link(a, b, spec, at_a, at_b);
  topology.add_link(b, a, spec, at_b, at_a);
}

}  // namespace espalier
