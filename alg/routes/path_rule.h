// How a path through switches may continue, so that paths together cannot block each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// Where every switch has nodes, as on a BiGraph and a dragonfly, a path passes one link between
// switches at most: a tree goes farther by a node that it has there. (So trees have height 2 on a
// BiGraph, as in MultiTree's evaluation; longer paths take links from other trees, and on a 4x8
// BiGraph 43 timesteps instead of 31.) Elsewhere, as on a fat-tree, paths go up* and then down*
// (up: towards the root of the breadth-first tree at vertex 0; the same level: towards the lower
// id); a GPU cluster's root is its fabric, so that GPUs of one server are linked by its switch on
// every server, and a data centre's levels are those of its switches. Either way an order of
// the links rules out a cycle. Precondition: a connected network.
class PathRule {
 public:
  // The property of a path that decides how it may continue. A path starts with kStart.
  using State = std::uint8_t;
  static constexpr State kStart = 0;

  explicit PathRule(const Topology& topology);

  static constexpr std::size_t kNumStates = 2;
  // The path's state behind `link`, or nothing where it may not take the link.
  [[nodiscard]] std::optional<State> after(State state, LinkId link) const;

 private:
  enum class Kind : std::uint8_t { neutral, between_switches, up, down };
  std::vector<Kind>
      kinds_;  // by LinkId; the first two where every switch has nodes, else the others
};

}  // namespace espalier
