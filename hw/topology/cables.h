// What builders of networks lay between two vertices. Internal to hw.
#pragma once

#include <string>

#include "hw/topology/topology.h"

namespace espalier {

// A port has the name of the vertex it leads to, as one word: the link to sw_3 is sw3.
[[nodiscard]] std::string port_to(const Topology& topology, NodeId vertex);

// Both ways. `suffix` tells parallel links apart.
void add_cable(Topology& topology, NodeId a, NodeId b, LinkSpec spec,
               const std::string& suffix = "");

}  // namespace espalier
