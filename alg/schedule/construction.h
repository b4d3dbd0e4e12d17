// Choices of how generators construct schedules, which a configuration makes.
#pragma once

#include <cstdint>

namespace espalier {

// When MULTITREE's construction ends a timestep, and in which order trees take turns.
enum class StepEnd : std::uint8_t {
  paper,    // no tree can grow any more; the same order in every turn of all (Algorithm 1)
  authors,  // the last tree of a turn of all did not grow; the order of turns changes after the
            // first round
};

// The order of the nodes in a ring along a line of nodes.
enum class LineOrder : std::uint8_t {
  folded,   // 0 2 4 ... 5 3 1: one ring, at most two links a hop
  natural,  // 0 1 2 ...: a ring in either direction, and one hop back over the whole line
};

}  // namespace espalier
