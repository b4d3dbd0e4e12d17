#include "alg/generators/rings.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "test_graphs.h"
#include "tests/support/networks.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

bool is_hamiltonian_cycle(const Topology& topology, const std::vector<LinkId>& links) {
  if (links.size() != topology.num_nodes()) return false;
  if (topology.link(links.front()).from != NodeId(0)) return false;
  std::set<NodeId> seen;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const TopologyLink& link = topology.link(links[i]);
    if (link.to != topology.link(links[(i + 1) % links.size()]).from) return false;
    if (!seen.insert(link.from).second) return false;
  }
  return true;
}

bool exists_by_trying_all_orders(const Topology& topology) {
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) order.push_back(n);
  do {
    bool linked = true;
    for (std::size_t i = 0; linked && i < order.size(); ++i) {
      linked =
          topology.link_between(NodeId(order[i]), NodeId(order[(i + 1) % order.size()])).valid();
    }
    if (linked) return true;
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return false;
}

// How often the busiest directed link is taken by one turn round the ring.
std::size_t most_uses_of_a_link(const NodeRing& ring) {
  std::vector<LinkId> links;
  for (const auto& hop : ring.hops) links.insert(links.end(), hop.begin(), hop.end());
  std::size_t most = 0;
  for (const LinkId link : links) {
    most = std::max(most, static_cast<std::size_t>(std::count(links.begin(), links.end(), link)));
  }
  return most;
}

}  // namespace

TEST_CASE("Every torus has a Hamiltonian cycle, also with an odd number of nodes") {
  for (std::uint32_t x = 1; x <= 6; ++x) {
    for (std::uint32_t y = 1; y <= 6; ++y) {
      for (std::uint32_t z = 1; z <= 5; ++z) {
        if (x * y * z < 2) continue;
        const Topology topology = make_torus({x, y, z}, kPlainLink);
        CAPTURE(topology.name());
        CHECK(is_hamiltonian_cycle(topology, hamiltonian_cycle(topology)));
      }
    }
  }
}

TEST_CASE("A mesh has a Hamiltonian cycle if it has an even number of nodes and is not a line") {
  for (std::uint32_t x = 1; x <= 6; ++x) {
    for (std::uint32_t y = 1; y <= 6; ++y) {
      for (std::uint32_t z = 1; z <= 5; ++z) {
        const std::uint32_t nodes = x * y * z;
        if (nodes < 2) continue;
        const Topology topology = make_mesh({x, y, z}, kPlainLink);
        CAPTURE(topology.name());
        const bool line = nodes == std::max({x, y, z});
        const auto cycle = hamiltonian_cycle(topology);
        if (nodes == 2 || (nodes % 2 == 0 && !line)) {
          CHECK(is_hamiltonian_cycle(topology, cycle));
        } else {
          CHECK(cycle.empty());
        }
      }
    }
  }
}

TEST_CASE("Backtracking finds a cycle in small irregular networks exactly where one exists") {
  std::size_t with_cycle = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t nodes = 2 + test::pick(random, 6);
    const Topology topology =
        test::cables(nodes, test::random_pairs(random, nodes, test::pick(random, nodes + 2)));
    const auto cycle = hamiltonian_cycle(topology);
    CHECK(cycle.empty() == !exists_by_trying_all_orders(topology));
    if (!cycle.empty()) {
      ++with_cycle;
      CHECK(is_hamiltonian_cycle(topology, cycle));
    }
  }
  CHECK(with_cycle > 20);
  CHECK(with_cycle < 130);
}

TEST_CASE("Backtracking finds its way through larger networks and gives up in bounded time") {
  // A grid that is not told to be one: 8x8 as bare cables.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t n = 0; n < 64; ++n) {
    if (n % 8 != 7) pairs.emplace_back(n, n + 1);
    if (n < 56) pairs.emplace_back(n, n + 8);
  }
  const Topology grid = test::cables(64, pairs);
  CHECK(is_hamiltonian_cycle(grid, hamiltonian_cycle(grid)));
  // 7x9 has an odd number of nodes and two colours: there is none to be found.
  pairs.clear();
  for (std::size_t n = 0; n < 63; ++n) {
    if (n % 7 != 6) pairs.emplace_back(n, n + 1);
    if (n < 56) pairs.emplace_back(n, n + 7);
  }
  CHECK(hamiltonian_cycle(test::cables(63, pairs)).empty());
}

TEST_CASE("A ring over a tree takes every directed link exactly once") {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t nodes = 3 + test::pick(random, 12);
    const Topology topology = test::cables(nodes, test::random_pairs(random, nodes, 0));
    const NodeRing ring = find_node_ring(topology);
    CHECK_FALSE(ring.hamiltonian);
    std::size_t links = 0;
    for (const auto& hop : ring.hops) links += hop.size();
    CHECK(links == topology.num_links());
    CHECK(most_uses_of_a_link(ring) == 1);
    CHECK(std::set<NodeId>(ring.nodes.begin(), ring.nodes.end()).size() == nodes);
  }
}

TEST_CASE("A ring over a mesh without a cycle takes no directed link twice") {
  const std::vector<std::vector<std::uint32_t>> shapes{{3},    {9},       {3, 3},
                                                       {5, 7}, {3, 3, 3}, {3, 5, 3}};
  for (const auto& dims : shapes) {
    const Topology topology = make_mesh(dims, kPlainLink);
    CAPTURE(topology.name());
    const NodeRing ring = find_node_ring(topology);
    CHECK_FALSE(ring.hamiltonian);
    CHECK(ring.nodes.size() == topology.num_nodes());
    CHECK(most_uses_of_a_link(ring) == 1);
  }
}
