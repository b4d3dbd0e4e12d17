// The trees of MultiTree's Algorithm 1, and schedules that follow trees.
#pragma once

#include <string>
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
// units of bandwidth (alg/routes/links.h). Through switches a node reaches the nearest node
// that the tree lacks (section III-C3): first those on its own switch, then breadth first over
// switches by links that are still free, as far as alg/routes/path_rule.h lets it go. Trees take
// their turns in the order of their roots' ranks, or as request.tree_order says. Precondition:
// strongly connected. Throws std::invalid_argument where no such path leads to some node.
[[nodiscard]] TreeForest build_trees(const Topology& topology, const CollectiveRequest& request);

// Empty where every link has one back, which the mirror of an all-gather needs; else a sentence
// that names a link without one.
[[nodiscard]] std::string unsuited_for_mirrored_trees(const Topology& topology,
                                                      const std::string& algorithm);

// Flow and chunk i belong to the tree whose root is the node of rank i. all_to_all: every root has
// N chunks, in the order in which its tree reaches their destinations depth first, so that a
// subtree's data is one run of chunks. Precondition: unsuited_for_mirrored_trees is empty.
[[nodiscard]] Schedule schedule_trees(const Topology& topology, const CollectiveRequest& request,
                                      TreeForest forest, const std::string& algorithm);

}  // namespace espalier
