// Irregular networks for tests.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier::test {

inline constexpr LinkSpec kPlainLink{150'000, 16'000'000'000};

// The same on every standard library, unlike std::uniform_int_distribution.
inline std::size_t pick(std::mt19937& random, std::size_t count) { return random() % count; }

inline void add_one_way(Topology& topology, std::size_t from, std::size_t to, LinkSpec spec) {
  topology.add_link(NodeId(from), NodeId(to), spec,
                    fmt::format("o{}", topology.out_links(NodeId(from)).size()),
                    fmt::format("i{}", topology.in_links(NodeId(to)).size()));
}

inline void add_cable(Topology& topology, std::size_t a, std::size_t b, LinkSpec there,
                      LinkSpec back) {
  const std::string name_a = fmt::format("c{}", topology.num_links());
  const std::string name_b = fmt::format("c{}", topology.num_links() + 1);
  topology.add_link(NodeId(a), NodeId(b), there, name_a, name_b);
  topology.add_link(NodeId(b), NodeId(a), back, name_b, name_a);
}

inline Topology cables(std::size_t nodes,
                       const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  Topology topology("cables");
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n{}", n));
  for (const auto& [a, b] : pairs) add_cable(topology, a, b, kPlainLink, kPlainLink);
  return topology;
}

// A random tree over all vertices and `extra` random cables, parallel ones included.
inline std::vector<std::pair<std::size_t, std::size_t>> random_pairs(std::mt19937& random,
                                                                     std::size_t vertices,
                                                                     std::size_t extra) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t v = 1; v < vertices; ++v) pairs.emplace_back(v, pick(random, v));
  for (std::size_t e = 0; e < extra; ++e) {
    const std::size_t a = pick(random, vertices);
    const std::size_t b = (a + 1 + pick(random, vertices - 1)) % vertices;
    pairs.emplace_back(a, b);
  }
  return pairs;
}

}  // namespace espalier::test
