// Routes that a user chooses: which paths they are, and that their VC classes exclude a deadlock.
#include "alg/routes/chosen_routes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "alg/certify/channel_dependencies.h"
#include "alg/routes/links.h"
#include "alg/routes/routing.h"
#include "test_graphs.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::kPlainLink;

std::vector<Topology> networks_of_every_kind() {
  std::vector<Topology> networks{
      make_torus({8, 8}, kPlainLink),      make_torus({5, 3, 2}, kPlainLink),
      make_mesh({4, 6}, kPlainLink),       make_fat_tree(3, 4, 3, kPlainLink),
      make_dragonfly(2, 3, 4, kPlainLink), make_bigraph(2, 6, kPlainLink),
      make_fully_connected(6, kPlainLink), make_torus({12}, kPlainLink)};
  std::mt19937 random(5);
  for (int graph = 0; graph < 10; ++graph) {
    networks.push_back(test::cables(14, test::random_pairs(random, 14, 8)));
  }
  return networks;
}

std::string cycle_of_all_routes(const Topology& topology, std::uint32_t classes) {
  ChannelDependencies dependencies(topology, classes);
  RouteSet routes(topology);
  for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
    for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
      for (std::uint32_t turn = 0; a != b && turn < topology.shape().split; ++turn) {
        const auto links = route_packet(topology, NodeId(a), NodeId(b), turn);
        dependencies.add(routes, routes.add(topology, links));
      }
    }
  }
  return dependencies.cycle();
}

TEST_CASE(
    "Chosen routes of all pairs together wait in no circle with the VC classes they ask for") {
  test::ShareOfCases share(3);
  for (const Topology& network : networks_of_every_kind()) {
    for (const Routing routing :
         {Routing::up_down, Routing::shortest, Routing::ecmp, Routing::split}) {
      if (!share.take()) continue;
      Topology topology = network;
      REQUIRE(choose_routes(topology, routing, 7, {}) == "");
      CAPTURE(topology.name(), static_cast<int>(routing));
      CHECK(cycle_of_all_routes(topology, vc_classes(topology)) == "");
      if (least_vc_classes(topology) > 1) {
        CHECK(cycle_of_all_routes(topology, least_vc_classes(topology) - 1) != "");
      }
    }
  }
}

// 16 meshes of 2x4, each node with one link to a random node of another mesh.
Topology paired_meshes(std::mt19937& random) {
  Topology topology("meshes");
  for (std::size_t n = 0; n < 128; ++n) topology.add_node("n" + std::to_string(n));
  const auto cable = [&](std::size_t a, std::size_t b) {
    test::add_cable(topology, a, b, kPlainLink, kPlainLink);
  };
  for (std::size_t n = 0; n < 128; ++n) {
    if (n % 4 != 3) cable(n, n + 1);
    if (n % 8 < 4) cable(n, n + 4);
  }
  std::vector<std::size_t> ends(128);
  for (std::size_t n = 0; n < 128; ++n) {
    ends[n] = n;
    std::swap(ends[n], ends[test::pick(random, n + 1)]);
  }
  for (std::size_t e = 0; e < 128; e += 2) {
    if (ends[e] / 8 != ends[e + 1] / 8) cable(ends[e], ends[e + 1]);
  }
  return topology;
}

TEST_CASE("Random pairings of 16 meshes of 2x4 get few VC classes, and their routes no cycle") {
  std::mt19937 random(11);
  for (int pairing = 0; pairing < (test::kSanitized ? 3 : 20); ++pairing) {
    Topology topology = paired_meshes(random);
    if (topology.find_disconnected().valid()) continue;
    REQUIRE(choose_routes(topology, Routing::shortest, 1, {}) == "");
    CHECK(least_vc_classes(topology) <= 4);
    CHECK(cycle_of_all_routes(topology, least_vc_classes(topology)) == "");
    CHECK(cycle_of_all_routes(topology, 1) != "");
  }
}

TEST_CASE("Shortest, ecmp and split routes are shortest paths, and split takes several of them") {
  for (const Topology& network : networks_of_every_kind()) {
    for (const Routing routing : {Routing::shortest, Routing::ecmp, Routing::split}) {
      Topology topology = network;
      REQUIRE(choose_routes(topology, routing, 7, {}) == "");
      for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
        const auto distance = distances_from(topology, NodeId(a));
        for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
          for (std::uint32_t turn = 0; a != b && turn < topology.shape().split; ++turn) {
            CHECK(route_packet(topology, NodeId(a), NodeId(b), turn).size() == distance[b]);
          }
        }
      }
    }
  }
  Topology tree = make_fat_tree(2, 2, 4, kPlainLink);
  REQUIRE(choose_routes(tree, Routing::split, 1, {}) == "");
  std::set<std::vector<LinkId>> ways;
  RouteTurns turns(tree);
  for (int message = 0; message < 4; ++message) ways.insert(turns.next(NodeId(0), NodeId(3)));
  CHECK(ways.size() == 4);  // each spine once
}

TEST_CASE("ECMP keeps the path of a pair, and another seed moves some pairs") {
  Topology one = make_torus({6, 6}, kPlainLink);
  Topology other = one;
  REQUIRE(choose_routes(one, Routing::ecmp, 1, {}) == "");
  REQUIRE(choose_routes(other, Routing::ecmp, 2, {}) == "");
  std::size_t moved = 0;
  for (std::size_t b = 1; b < 36; ++b) {
    const auto route = route_packet(one, NodeId(0), NodeId(b));
    CHECK(route == route_packet(one, NodeId(0), NodeId(b)));
    if (route != route_packet(other, NodeId(0), NodeId(b))) ++moved;
  }
  CHECK(moved > 5);
}

TEST_CASE("A chosen up*/down* route on a torus needs one class; dimension order needs a grid") {
  Topology torus = make_torus({6, 6}, kPlainLink);
  REQUIRE(choose_routes(torus, Routing::up_down, 1, {}) == "");
  CHECK(least_vc_classes(torus) == 1);
  CHECK(cycle_of_all_routes(torus, 1) == "");
  Topology tree = make_fat_tree(2, 2, 2, kPlainLink);
  CHECK(choose_routes(tree, Routing::dimension_order, 1, {}) ==
        "this network is not a torus or a mesh");
}

TEST_CASE("A table's routes are taken in turn, others stay, and given classes are judged") {
  Topology ring = make_torus({4}, kPlainLink);
  const auto step = [&](std::size_t from, bool plus) {
    return grid_link(ring, NodeId(from), 0, plus);
  };
  RouteTable table;
  table[{NodeId(0), NodeId(2)}] = {{{step(0, true), step(1, true)}, {}},
                                   {{step(0, false), step(3, false)}, {}}};
  Topology listed = ring;
  REQUIRE(choose_routes(listed, Routing::table, 1, table) == "");
  CHECK(listed.shape().split == 2);
  CHECK(route_packet(listed, NodeId(0), NodeId(2), 1)[0] == step(0, false));
  CHECK(route_packet(listed, NodeId(1), NodeId(3)) == route_packet(ring, NodeId(1), NodeId(3)));
  CHECK(cycle_of_all_routes(listed, vc_classes(listed)) == "");
  // All the same way round in one class, as every pair of a ring of four does by dimension order.
  for (std::size_t from = 0; from < 4; ++from) {
    table[{NodeId(from), NodeId((from + 2) % 4)}] = {
        {{step(from, true), step((from + 1) % 4, true)}, {0, 0}}};
  }
  CHECK_THAT(choose_routes(ring, Routing::table, 1, table),
             Catch::Matchers::Contains("closes a cycle of packets that wait for each other"));
}

}  // namespace
}  // namespace espalier
