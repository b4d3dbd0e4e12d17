// The trees of MultiTree's Algorithm 1 before they become a schedule.
#pragma once

#include <vector>

#include "alg/generator.h"
#include "hw/topology.h"

namespace espalier {

// "child was connected under parent at timestep t" (of the all-gather phase, t >= 1).
struct TreeEdge {
  NodeId parent;
  NodeId child;
  LinkId link;  // parent -> child
  Timestep step = 0;
};

struct TreeForest {
  Timestep num_steps = 0;
  std::vector<std::vector<TreeEdge>>
      trees;  // by root id, in the order of adding: parents before their children
};

// MultiTree, Algorithm 1 as the paper states it: one spanning tree per node, built together and top
// down; in every timestep each directed link serves one tree. Precondition: strongly connected, no
// switches.
[[nodiscard]] TreeForest build_trees(const Topology& topology, CollectiveRequest::TreeOrder order);

}  // namespace espalier
