// One network of every kind, for tests that must hold on all of them.
#pragma once

#include <fmt/format.h>

#include <random>
#include <vector>

#include "hw/topology/topology.h"
#include "test_graphs.h"
#include "tests/support/networks.h"

namespace espalier::test {

// Nodes and switches in a random tree with a few cables more; some nodes stand between others.
inline Topology random_switched(std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t nodes = 3 + pick(random, 8);
  const std::size_t switches = 1 + pick(random, 4);
  Topology topology(fmt::format("random graph {}", seed));
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n{}", n));
  for (std::size_t s = 0; s < switches; ++s) topology.add_switch(fmt::format("s{}", s));
  for (const auto& [a, b] : random_pairs(random, nodes + switches, pick(random, 6))) {
    add_cable(topology, a, b, kPlainLink, kPlainLink);
  }
  return topology;
}

inline std::vector<Topology> small_networks() {
  std::vector<Topology> networks;
  for (const auto& dims : std::vector<std::vector<std::uint32_t>>{
           {2}, {3}, {7}, {2, 2}, {3, 3}, {4, 4}, {3, 5}, {2, 2, 3}}) {
    networks.push_back(make_torus(dims, kPlainLink));
    networks.push_back(make_mesh(dims, kPlainLink));
  }
  // Rings and lines of several rates, parallel links, twists.
  networks.push_back(make_grid({{"dims", {3, 4}},
                                {"wrap", {1, 0}},
                                {"bandwidth", {0, 6'000'000'000}},
                                {"latency", {400'000, 0}}},
                               kPlainLink));
  networks.push_back(make_grid({{"dims", {3, 2, 2}},
                                {"wrap", {1, 1, 1}},
                                {"links", {2, 1, 4}},
                                {"bandwidth", {0, 0, 8'000'000'000}}},
                               kPlainLink));
  networks.push_back(
      make_grid({{"dims", {2, 2, 4}}, {"wrap", {1, 1, 1}}, {"twist", {0, 2, 2}}}, kPlainLink));
  networks.push_back(make_grid({{"dims", {3, 3, 2}},
                                {"wrap", {1, 1, 0}},
                                {"twist", {1, 0, 0}},
                                {"bandwidth", {12'000'000'000, 0, 0}}},
                               kPlainLink));
  for (const std::uint32_t nodes : {2U, 5U, 8U}) {
    networks.push_back(make_fully_connected(nodes, kPlainLink));
  }
  networks.push_back(make_single_switch(2, kPlainLink));
  networks.push_back(make_single_switch(7, kPlainLink));
  networks.push_back(make_switch_pair(4, kPlainLink));
  networks.push_back(make_switch_pair(3, kPlainLink));
  networks.push_back(make_fat_tree(4, 4, 4, kPlainLink));
  networks.push_back(make_fat_tree(3, 4, 2, kPlainLink));
  networks.push_back(make_bigraph(1, 2, kPlainLink));
  networks.push_back(make_bigraph(2, 4, kPlainLink));
  networks.push_back(make_bigraph(4, 4, kPlainLink));
  networks.push_back(make_bigraph(2, 8, kPlainLink));
  networks.push_back(make_bigraph(3, 6, kPlainLink));
  networks.push_back(make_dragonfly(2, 2, 3, kPlainLink));
  networks.push_back(make_gpu_cluster({1, 4, 1, 1}, kPlainLink, kPlainLink));
  networks.push_back(make_gpu_cluster({2, 4, 2, 2}, kPlainLink, kPlainLink));
  networks.push_back(make_gpu_cluster({3, 2, 2, 1}, kPlainLink, kPlainLink));
  networks.push_back(
      make_data_center({1, 3, 2, 2, 2, 1, 1, 1, 4, 1}, {kPlainLink, kPlainLink, kPlainLink}));
  networks.push_back(
      make_data_center({2, 2, 4, 2, 2, 1, 2, 2, 8, 2}, {kPlainLink, kPlainLink, kPlainLink}));
  networks.push_back(make_switch_planes(4, {16, 16}));
  networks.push_back(make_switch_planes(5, {16, 16, 16}));
  networks.push_back(cables(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 0}}));
  for (std::uint32_t seed = 1; seed <= 8; ++seed) networks.push_back(random_switched(seed));
  return networks;
}

}  // namespace espalier::test
