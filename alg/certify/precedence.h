// What must come before what: a topological order, or the cycle that rules one out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

struct Precedence {
  std::uint32_t before;
  std::uint32_t after;
};

struct TopologicalOrder {
  std::vector<std::uint32_t> order;  // of all vertices where there is no cycle
  // Each comes after the next one, and the last after the first. Empty where there is none.
  std::vector<std::uint32_t> cycle;
};

// Deterministic: first come, first served, from ascending vertices. Iterative and linear, for
// millions of vertices.
[[nodiscard]] TopologicalOrder sort_topologically(std::size_t vertices,
                                                  const std::vector<Precedence>& precedences);

}  // namespace espalier
