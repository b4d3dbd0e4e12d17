// The steps of a window on a ring: every node sums a window around itself that grows on both sides
// in every step. The node keeps the sums from which the window was built, and sends unions of them,
// so no contribution is counted twice.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier {

// In one step, node i sends the sum of the leftmost `right` elements of its window to node
// i + right, and the sum of its rightmost `left` elements to node i - left. The window then has
// `right` more elements on its left side, and `left` more on its right side. 0: no message.
struct WindowStep {
  std::uint32_t right = 0;
  std::uint32_t left = 0;
  friend bool operator==(const WindowStep& a, const WindowStep& b) {
    return a.right == b.right && a.left == b.left;
  }
};

// The fewest steps with which the window of every node covers a ring of `nodes` nodes, 1 or more.
// The distances to the right sum up to floor(nodes / 2), which no all-reduce on a ring can beat.
// Every step but the last is as far to the left as to the right.
[[nodiscard]] std::vector<WindowStep> window_steps(std::uint32_t nodes);

}  // namespace espalier
