// Networks whose bounds need no search.
#pragma once

#include "hw/topology/topology.h"

namespace espalier {

// Networks of equal links in which every node looks the same and no set of nodes has a border
// smaller than b, the rate of a single node's links. Then single nodes bind: |S| / B(S) <= (N-1) /
// b for every S that leaves out a node, and (p-1) / C(P) <= (p-1) / (p b) <= (N-1) / (N b). A
// torus, as a product of rings, has no smaller cut: two links cross every cut of a ring, of two
// nodes too. Nor has a complete graph: |S| (N-|S|) links cross, at least N-1.
[[nodiscard]] bool single_nodes_bind(const Topology& topology);

}  // namespace espalier
