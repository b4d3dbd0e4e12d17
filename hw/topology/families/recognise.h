// Graphs from files that are networks of a family.
#pragma once

#include <optional>

#include "hw/topology/topology.h"

namespace espalier {

// The same network with the links in the family's order and the family's shape, if the graph is a
// torus, a mesh, a fully connected network or a fat tree: names, rates and nodes' numbers stay,
// switches may be renumbered. Nodes must stand in the family's order, and the links of a dimension
// or of a level must be alike. NetworkShape::recognised says which vertex is which.
[[nodiscard]] std::optional<Topology> recognised_family(const Topology& graph);

}  // namespace espalier
