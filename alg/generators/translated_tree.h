// One spanning tree for all roots of a network that looks the same from every node.
#pragma once

#include <vector>

#include "alg/schedule/translations.h"
#include "hw/ids.h"

namespace espalier {

// Rooted at node 0: `child` = `parent` + generator of `port`, connected at `step` (>= 1).
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

// The least number of timesteps in which every node can have received every chunk, whole chunks per
// step: after s steps only nodes within distance s have anything, and then a node gets one chunk
// per incoming link and step. The largest of s + ceil((N - |ball of radius s|) / degree) over all
// s.
[[nodiscard]] Timestep ball_bound(const Translations& group);

// Every port is used at most once per timestep: the translates of the tree to all roots then share
// no link in any step, since link (v, v + g) of a step belongs to the one root v - parent. Children
// are matched to ports by augmenting paths, near ones first, along shortest paths; where the steps
// exceed the ball bound, other orders (seeded) and other parents are tried. Deterministic.
[[nodiscard]] TranslatedTree find_translated_tree(const Translations& group);

}  // namespace espalier
