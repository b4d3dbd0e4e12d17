// One spanning tree for all roots of a network that looks the same from every node.
#pragma once

#include <vector>

#include "alg/schedule/translations.h"
#include "hw/ids.h"

namespace espalier {

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
// |ball of radius s|) / degree) over all s.
[[nodiscard]] Timestep ball_bound(const Translations& group);

// Every port is used at most once per timestep. The translates of the tree to all roots then share
// no link in any step, because link (v, v + g) of a step belongs to the one root v - parent.
// Children are matched to ports by augmenting paths, near children first, along shortest paths. If
// the tree needs more steps than the ball bound, other orders (seeded) and other parents are tried.
// Deterministic.
[[nodiscard]] TranslatedTree find_translated_tree(const Translations& group);

}  // namespace espalier
