// The trees of MultiTree's Algorithm 1, and schedules that follow trees.
#pragma once

#include <string>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/routes/route_set.h"
#include "alg/schedule/translations.h"
#include "hw/ids.h"
#include "hw/topology/topology.h"

namespace espalier {

// The child was connected to the parent at timestep `step` of the all-gather phase (>= 1).
struct TreeEdge {
  NodeId parent;
  NodeId child;
  RouteId path;  // parent -> child: one link, or a path through switches
  Timestep step = 0;
};

struct TreeForest {
  explicit TreeForest(const Topology& topology) : paths(topology) {}

  Timestep num_steps = 0;
  RouteSet paths;
  // By root id, in the order of adding: parents before their children.
  std::vector<std::vector<TreeEdge>> trees;
};

// MultiTree, Algorithm 1 of the paper: one spanning tree for each node, built together and top
// down. In every timestep each directed link serves as many trees as it, and its reverse link, has
// units of bandwidth (alg/routes/links.h). Through switches, a node reaches the nearest node that
// is not in the tree yet (section III-C3): first nodes on its own switch, then breadth first over
// switches by links that are still free, as far as alg/routes/path_rule.h allows. Trees take turns
// in the order of their roots' ranks, or in the order that request.tree_order selects.
// Precondition: the topology is strongly connected. Throws std::invalid_argument if no such path
// leads to some node.
[[nodiscard]] TreeForest build_trees(const Topology& topology, const CollectiveRequest& request);

// Returns an empty text if every link has a reverse link, which the mirror of an all-gather needs;
// otherwise a sentence that names a link without one.
[[nodiscard]] std::string unsuited_for_mirrored_trees(const Topology& topology,
                                                      const std::string& algorithm);

// Flow and chunk i belong to the tree whose root is the node of rank i. all_to_all: every root has
// N chunks, in the depth-first order in which its tree reaches their destinations, so that the data
// of a subtree are consecutive chunks. Precondition: unsuited_for_mirrored_trees() is empty.
[[nodiscard]] Schedule schedule_trees(const Topology& topology, const CollectiveRequest& request,
                                      TreeForest forest, const char* algorithm);

// One spanning tree for all roots of a network that looks the same from every node.

// An edge of the tree with root 0: `child` = `parent` + generator of `port`, connected at `step`
// (>= 1).
struct RelativeEdge {
  NodeId parent;
  NodeId child;
  std::uint32_t port = 0;
  Timestep step = 0;
};

struct TranslatedTree {
  Timestep num_steps = 0;
  std::vector<RelativeEdge> edges;  // parents before their children, ascending steps
};

// A lower bound of the timesteps in which every node can receive every chunk, if a step moves whole
// chunks: after s steps only nodes within distance s have received anything, and from then on a
// node gets one chunk per incoming link and step. The bound is the largest value of s + ceil((N -
// |ball of radius s|) / degree) over all s. `units`: chunks that each port carries in a step;
// empty: one.
[[nodiscard]] Timestep ball_bound(const Translations& group,
                                  const std::vector<std::uint32_t>& units = {});

// Every port is used at most so often per timestep as it has units. The translates of the tree to
// all roots then share no link in any step, because link (v, v + g) of a step belongs to the one
// root v - parent. Children are matched to ports by augmenting paths, near children first, along
// shortest paths. If the tree needs more steps than the ball bound, other orders (seeded) and other
// parents are tried. Deterministic.
[[nodiscard]] TranslatedTree find_translated_tree(const Translations& group,
                                                  const std::vector<std::uint32_t>& units = {});

}  // namespace espalier
