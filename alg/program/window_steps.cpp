#include "alg/program/window_steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace espalier {

namespace {

// Searches the steps depth first. A window has pieces that are kept, in the order of the ring:
// elements received from the left, the node's own element, elements received from the right.
class WindowSearch {
 public:
  explicit WindowSearch(std::uint32_t nodes) : right_(nodes / 2), left_((nodes - 1) / 2) {}

  std::vector<WindowStep> run() {
    if (right_ == 0) return {};
    for (std::size_t most = 1;; ++most) {
      found_.clear();
      if (search({1}, 0, most)) return found_;
    }
  }

 private:
  // The numbers of elements that the first pieces have together: 0, then of one piece, of two, ...
  // Pieces are symmetric, so the last pieces have the same.
  static std::vector<std::uint32_t> lengths(const std::vector<std::uint32_t>& pieces) {
    std::vector<std::uint32_t> sums{0};
    for (const std::uint32_t piece : pieces) sums.push_back(sums.back() + piece);
    return sums;
  }

  // The window of pieces `pieces` reaches `radius` elements to either side.
  bool search(const std::vector<std::uint32_t>& pieces, std::uint32_t radius, std::size_t most) {
    const std::vector<std::uint32_t> possible = lengths(pieces);
    const auto can_send = [&](std::uint32_t elements) {
      return std::binary_search(possible.begin(), possible.end(), elements);
    };
    if (can_send(right_ - radius) && can_send(left_ - radius)) {
      found_.push_back({right_ - radius, left_ - radius});
      return true;
    }
    if (most == 1) return false;
    for (auto x = possible.rbegin(); *x != 0; ++x) {
      if (radius + *x > left_) continue;
      std::vector<std::uint32_t> next{*x};
      next.insert(next.end(), pieces.begin(), pieces.end());
      next.push_back(*x);
      found_.push_back({*x, *x});
      if (search(next, radius + *x, most - 1)) return true;
      found_.pop_back();
    }
    return false;
  }

  std::uint32_t right_;
  std::uint32_t left_;
  std::vector<WindowStep> found_;
};

}  // namespace

std::vector<WindowStep> window_steps(std::uint32_t nodes) { return WindowSearch(nodes).run(); }

}  // namespace espalier
