// The links of a torus or mesh by dimension and direction.
#pragma once

#include <cstddef>

#include "hw/topology/topology.h"

namespace espalier {

struct GridHop {
  std::size_t dim = 0;
  bool plus = false;   // towards larger coordinates
  bool wraps = false;  // the wrap-around link of its ring
};

// Preconditions: the topology has a grid, the link is one of the grid's.
[[nodiscard]] GridHop grid_hop(const Topology& topology, LinkId link);
// An invalid id at the border of a mesh and in a dimension of size 1.
[[nodiscard]] LinkId grid_link(const Topology& topology, NodeId from, std::size_t dim, bool plus);

}  // namespace espalier
