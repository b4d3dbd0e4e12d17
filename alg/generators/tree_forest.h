// The trees of MultiTree's Algorithm 1 before they become a schedule.
#pragma once

#include <vector>

#include "alg/generators/generator.h"
#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

// "child was connected under parent at timestep t" (of the all-gather phase, t >= 1).
struct TreeEdge {
  NodeId parent;
  NodeId child;
  RouteId path;  // parent -> child: one link, or the way through switches
  Timestep step = 0;
};

struct TreeForest {
  explicit TreeForest(const Topology& topology) : paths(topology) {}

  Timestep num_steps = 0;
  RouteSet paths;
  std::vector<std::vector<TreeEdge>>
      trees;  // by root id, in the order of adding: parents before their children
};

// MultiTree, Algorithm 1 as the paper states it: one spanning tree per node, built together and top
// down; in every timestep each directed link serves as many trees as it, and the link back, has
// units of bandwidth (alg/routes/link_units.h). Through switches a node reaches the nearest node
// that the tree lacks (section III-C3): first those on its own switch, then breadth first over
// switches by links that are still free, as far as alg/routes/path_rule.h lets it go. Trees take
// their turns in the order of their roots' ranks, or as request.tree_order says. Precondition:
// strongly connected. Throws std::invalid_argument where no such path leads to some node.
[[nodiscard]] TreeForest build_trees(const Topology& topology, const CollectiveRequest& request);

}  // namespace espalier
