#include "alg/program/builtin_parts.h"

#include <catch2/catch.hpp>

#include <map>
#include <utility>

using namespace espalier;

namespace {

// How often every node of a ring counts in a sum.
using Multiset = std::vector<int>;

// The sums that a node keeps, in the order of the ring: sent are unions of the first or last ones.
struct RingNode {
  std::vector<std::pair<std::uint32_t, Multiset>> pieces;  // with their numbers of elements
};

Multiset plus(Multiset a, const Multiset& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// The sum of the first (last) pieces that have `elements` elements together.
Multiset edge_of(const RingNode& node, std::uint32_t elements, bool is_first) {
  Multiset sum(node.pieces.front().second.size(), 0);
  std::uint32_t length = 0;
  for (std::size_t p = 0; length < elements; ++p) {
    REQUIRE(p < node.pieces.size());
    const auto& piece = node.pieces[is_first ? p : node.pieces.size() - 1 - p];
    length += piece.first;
    sum = plus(sum, piece.second);
  }
  REQUIRE(length == elements);  // a union of kept sums
  return sum;
}

}  // namespace

TEST_CASE("A window counts every node of a ring exactly once, after half a ring's hops") {
  for (std::uint32_t k = 2; k <= 64; ++k) {
    CAPTURE(k);
    std::vector<RingNode> ring(k);
    for (std::uint32_t i = 0; i < k; ++i) {
      Multiset own(k, 0);
      own[i] = 1;
      ring[i].pieces = {{1, own}};
    }
    std::uint32_t hops = 0;
    for (const WindowStep& step : window_steps(k)) {
      const std::vector<RingNode> before = ring;
      hops += step.right;
      REQUIRE(step.left <= step.right);
      for (std::uint32_t i = 0; i < k; ++i) {
        const RingNode& left = before[(i + k - step.right) % k];
        const RingNode& right = before[(i + step.left) % k];
        auto& pieces = ring[i].pieces;
        pieces.insert(pieces.begin(), {step.right, edge_of(left, step.right, true)});
        if (step.left == 0) continue;
        pieces.push_back({step.left, edge_of(right, step.left, false)});
      }
    }
    CHECK(hops == k / 2);
    for (const RingNode& node : ring) {
      Multiset sum(k, 0);
      for (const auto& piece : node.pieces) sum = plus(sum, piece.second);
      REQUIRE(sum == Multiset(k, 1));
    }
  }
}

TEST_CASE("Windows take few steps") {
  using WindowSteps = std::vector<WindowStep>;
  CHECK(window_steps(1).empty());
  CHECK(window_steps(2) == WindowSteps{{1, 0}});
  CHECK(window_steps(3) == WindowSteps{{1, 1}});
  CHECK(window_steps(4) == WindowSteps{{1, 1}, {1, 0}});
  CHECK(window_steps(8) == WindowSteps{{1, 1}, {3, 2}});
  CHECK(window_steps(16) == WindowSteps{{1, 1}, {3, 3}, {4, 3}});
  CHECK(window_steps(32) == WindowSteps{{1, 1}, {3, 3}, {4, 4}, {8, 7}});
  CHECK(window_steps(64).size() == 5);
}
