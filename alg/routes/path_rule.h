// Limits how a path through switches may continue, so that paths cannot deadlock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// If every switch has nodes, a path uses at most one link between switches; a tree reaches farther
// nodes through a node on the way. (So trees have height 2 on a BiGraph, as in MultiTree's
// evaluation; longer paths take links from other trees, and on a 4x8 BiGraph this costs 43
// timesteps instead of 31.) On other networks, such as a fat-tree, paths go up* and then down* (up:
// towards the roots of NetworkShape::levels; on the same level: towards the lower id). In both
// cases an order of the links excludes a cycle. Precondition: a connected network.
class PathRule {
 public:
  // The property of a path that decides how it may continue. A path starts with kStart.
  using State = std::uint8_t;
  static constexpr State kStart = 0;

  explicit PathRule(const Topology& topology);

  static constexpr std::size_t kNumStates = 2;
  // The path's state after `link`, or nothing if the path may not take the link.
  [[nodiscard]] std::optional<State> after(State state, LinkId link) const;

 private:
  enum class Kind : std::uint8_t { neutral, between_switches, up, down };
  // By LinkId. The first two kinds are used if every switch has nodes, otherwise the last two.
  std::vector<Kind> kinds_;
};

}  // namespace espalier
