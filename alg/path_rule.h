// Which way a path through switches may go on, so that all such paths together cannot block each
// other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/topology.h"

namespace espalier {

// Where the network has VC classes for it (routing.h), a path may pass as many links between
// switches as there are classes, one class each: what a packet holds then always has a lower class
// than what it waits for. Elsewhere paths go up* and then down* (up: towards the root of the
// breadth-first tree at vertex 0; the same level: towards the lower id), and the order of the
// vertices rules out a circle. Precondition: a connected network.
class PathRule {
 public:
  // What of a path decides how it may go on. A path starts with kStart.
  using State = std::uint8_t;
  static constexpr State kStart = 0;

  explicit PathRule(const Topology& topology);

  [[nodiscard]] std::size_t num_states() const { return num_states_; }
  // The path's state behind `link`, or nothing where it may not take the link.
  [[nodiscard]] std::optional<State> after(State state, LinkId link) const;

 private:
  enum class Kind : std::uint8_t { neutral, between_switches, up, down };
  std::size_t num_states_;
  std::vector<Kind> kinds_;  // by LinkId; the first two where there are VC classes, else the others
};

}  // namespace espalier
