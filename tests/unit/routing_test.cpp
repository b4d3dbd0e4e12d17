#include "alg/routes/routing.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <stdexcept>

#include "test_graphs.h"
#include "tests/support/networks.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

std::vector<std::size_t> hops_from(const Topology& topology, NodeId from) {
  std::vector<std::size_t> hops(topology.num_vertices(), topology.num_vertices());
  std::queue<NodeId> frontier;
  hops[from.index()] = 0;
  frontier.push(from);
  while (!frontier.empty()) {
    const NodeId v = frontier.front();
    frontier.pop();
    for (const LinkId link : topology.out_links(v)) {
      const NodeId to = topology.link(link).to;
      if (hops[to.index()] <= hops[v.index()] + 1) continue;
      hops[to.index()] = hops[v.index()] + 1;
      frontier.push(to);
    }
  }
  return hops;
}

using Channel = std::pair<std::size_t, std::uint32_t>;  // link and VC class

bool has_cycle(const std::map<Channel, std::set<Channel>>& next) {
  std::map<Channel, std::size_t> waits_for;
  for (const auto& [channel, successors] : next) {
    waits_for[channel];
    for (const Channel& s : successors) ++waits_for[s];
  }
  std::queue<Channel> free;
  for (const auto& [channel, count] : waits_for) {
    if (count == 0) free.push(channel);
  }
  std::size_t freed = 0;
  for (; !free.empty(); free.pop(), ++freed) {
    const auto successors = next.find(free.front());
    if (successors == next.end()) continue;
    for (const Channel& s : successors->second) {
      if (--waits_for[s] == 0) free.push(s);
    }
  }
  return freed != waits_for.size();
}

struct AllPairs {
  bool connected = true;  // every route leads from its source to its destination
  bool shortest = true;
  std::uint32_t most_classes = 1;
  std::map<Channel, std::set<Channel>> next;
};

AllPairs route_all_pairs(const Topology& topology) {
  AllPairs result;
  RouteSet routes(topology);
  for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
    const auto hops = hops_from(topology, NodeId(a));
    for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
      if (a == b) continue;
      const auto links = route_packet(topology, NodeId(a), NodeId(b));
      const RouteId route = routes.add(topology, links);  // throws where links do not follow
      if (topology.link(links.front()).from != NodeId(a)) result.connected = false;
      if (topology.link(links.back()).to != NodeId(b)) result.connected = false;
      if (links.size() != hops[b]) result.shortest = false;
      Channel before;
      for (std::size_t hop = 0; hop < links.size(); ++hop) {
        const Channel here{links[hop].index(), vc_classes_of(topology, routes, route)[hop]};
        result.most_classes = std::max(result.most_classes, here.second + 1);
        if (hop > 0) result.next[before].insert(here);
        before = here;
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("Grid routes are shortest and their channels have no cycle") {
  const std::vector<std::vector<std::uint32_t>> shapes{
      {2},    {3},    {7},    {8},       {2, 2},    {2, 5},   {4, 4},
      {5, 3}, {8, 8}, {1, 6}, {3, 3, 3}, {2, 3, 4}, {4, 4, 2}};
  for (const auto& dims : shapes) {
    for (const bool wraps : {true, false}) {
      const Topology topology = wraps ? make_torus(dims, kPlainLink) : make_mesh(dims, kPlainLink);
      CAPTURE(topology.name());
      const AllPairs pairs = route_all_pairs(topology);
      CHECK(pairs.connected);
      CHECK(pairs.shortest);
      CHECK_FALSE(has_cycle(pairs.next));
      CHECK(pairs.most_classes <= vc_classes(topology));
    }
  }
}

TEST_CASE(
    "Routes of grids with rings, lines, parallel links and twists have no cycle, all pairs at "
    "once") {
  const auto check = [](const KeyValues& values, bool shortest = true) {
    const Topology topology = make_grid(values, kPlainLink);
    CAPTURE(topology.name());
    const AllPairs pairs = route_all_pairs(topology);
    CHECK(pairs.connected);
    CHECK(pairs.shortest == shortest);
    CHECK_FALSE(has_cycle(pairs.next));
    CHECK(pairs.most_classes <= vc_classes(topology));
  };
  check({{"dims", {4, 5, 3}}, {"wrap", {1, 0, 1}}});
  check({{"dims", {6, 2}}, {"wrap", {0, 1}}, {"links", {2, 4}}});
  check({{"dims", {4, 4, 8}}, {"wrap", {1, 1, 1}}, {"twist", {0, 4, 4}}});
  check({{"dims", {2, 4, 4}}, {"wrap", {1, 1, 1}}, {"twist", {2, 2, 0}}});
  check({{"dims", {4, 8}}, {"wrap", {1, 1}}, {"twist", {4}}, {"links", {3, 1}}});
  check({{"dims", {5, 6, 4}}, {"wrap", {1, 1, 1}}, {"twist", {2, 1, 3}}});
  check({{"dims", {3, 4, 3}}, {"wrap", {1, 1, 0}}, {"twist", {1, 0, 0}}});
  // Five times around X would be shorter than along Y, but would meet the dateline five times.
  check({{"dims", {2, 40}}, {"wrap", {1, 1}}, {"twist", {4}}}, false);
}

TEST_CASE(
    "Messages pass from dimension to dimension on the shortest way, and their channels have no "
    "cycle") {
  using Shape = DimensionShape;
  const auto of = [](Shape shape, std::uint32_t size, std::uint32_t times = 1) {
    DimensionSpec spec;
    spec.shape = shape;
    spec.size = size;
    spec.links = times * fewest_links(shape, size);
    spec.link = kPlainLink;
    return spec;
  };
  const std::vector<std::vector<DimensionSpec>> systems{
      {of(Shape::ring, 2)},
      {of(Shape::ring, 8), of(Shape::ring, 5)},
      {of(Shape::ring, 5, 2), of(Shape::fully_connected, 4, 2), of(Shape::switched, 3, 2)},
      {of(Shape::switched, 4), of(Shape::switched, 2), of(Shape::switched, 3)},
      {of(Shape::ring, 3), of(Shape::ring, 4), of(Shape::ring, 3), of(Shape::ring, 4)}};
  for (const auto& dimensions : systems) {
    const Topology topology = make_joined(dimensions);
    CAPTURE(topology.name());
    CHECK_FALSE(topology.dimensions());
    const AllPairs pairs = route_all_pairs(topology);
    CHECK(pairs.connected);
    CHECK(pairs.shortest);
    CHECK_FALSE(has_cycle(pairs.next));
    CHECK(pairs.most_classes <= topology.shape().vc_classes.all);
  }
}

TEST_CASE("Sources take turns at parallel links") {
  const Topology topology = make_grid({{"dims", {8}}, {"wrap", {1}}, {"links", {2}}}, kPlainLink);
  std::vector<std::size_t> messages(topology.num_links());
  for (std::size_t from = 0; from < 8; ++from) {
    for (const std::size_t hops : {2U, 4U}) {
      for (const LinkId l : route_packet(topology, NodeId(from), NodeId((from + hops) % 8))) {
        ++messages[l.index()];
      }
    }
  }
  for (std::size_t l = 0; l < messages.size(); ++l) {
    CHECK(messages[l] == (topology.link(LinkId(l)).out_name[0] == 'e' ? 3U : 0U));
  }
}

TEST_CASE("A torus ring of more than three nodes deadlocks without its datelines") {
  const Topology topology = make_torus({8}, kPlainLink);
  std::map<Channel, std::set<Channel>> one_class;
  for (const auto& [from, successors] : route_all_pairs(topology).next) {
    for (const Channel& to : successors) one_class[{from.first, 0}].insert({to.first, 0});
  }
  CHECK(has_cycle(one_class));
}

TEST_CASE("A torus route goes along X first and takes plus where both ways are equally long") {
  const Topology topology = make_torus({4, 4}, kPlainLink);
  std::vector<std::string> outputs;
  for (const LinkId link : route_packet(topology, NodeId(0), NodeId(10))) {
    outputs.push_back(topology.link(link).out_name);
  }
  CHECK(outputs == std::vector<std::string>{"e", "e", "s", "s"});
  const Topology narrow = make_torus({2, 3}, kPlainLink);
  const auto route = route_packet(narrow, NodeId(0), NodeId(1));
  REQUIRE(route.size() == 1);
  CHECK(narrow.link(route.front()).out_name == "e");
}

TEST_CASE("The VC class is 1 from the wrap-around link to the last hop of its dimension") {
  const Topology topology = make_torus({8, 8}, kPlainLink);
  RouteSet routes(topology);
  // x 6 -> 1 by the wrap, then y 1 -> 3 without one.
  const auto links = route_packet(topology, NodeId(6 + 8 * 1), NodeId(1 + 8 * 3));
  const RouteId route = routes.add(topology, links);
  std::vector<std::uint32_t> classes;
  for (std::size_t hop = 0; hop < links.size(); ++hop) {
    classes.push_back(vc_classes_of(topology, routes, route)[hop]);
  }
  CHECK(classes == std::vector<std::uint32_t>{0, 1, 1, 0, 0});
}

TEST_CASE("Routes of irregular networks never go up again after they have gone down") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t nodes = 10 + test::pick(random, 30);
    const Topology topology =
        test::cables(nodes, test::random_pairs(random, nodes, test::pick(random, nodes)));
    const auto level = hops_from(topology, NodeId(0));
    const auto goes_up = [&](LinkId id) {
      const TopologyLink& link = topology.link(id);
      return std::pair(level[link.to.index()], link.to) <
             std::pair(level[link.from.index()], link.from);
    };
    for (std::size_t a = 0; a < nodes; ++a) {
      for (std::size_t b = 0; b < nodes; ++b) {
        if (a == b) continue;
        const auto route = route_packet(topology, NodeId(a), NodeId(b));
        CHECK(std::is_partitioned(route.begin(), route.end(), goes_up));
      }
    }
  }
}

TEST_CASE("Routes of irregular networks have no channel cycle with a single class") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t nodes = 2 + test::pick(random, 14);
    const Topology topology =
        test::cables(nodes, test::random_pairs(random, nodes, test::pick(random, 2 * nodes)));
    const AllPairs pairs = route_all_pairs(topology);
    CHECK(pairs.connected);
    CHECK_FALSE(has_cycle(pairs.next));
    CHECK(pairs.most_classes == 1);
    CHECK(vc_classes(topology) == 1);
  }
}

TEST_CASE("Routes cross switches") {
  Topology topology("two switches");
  for (const char* name : {"a", "b", "c", "d"}) topology.add_node(name);
  for (const char* name : {"s", "t"}) topology.add_switch(name);
  const std::vector<std::pair<std::size_t, std::size_t>> pairs{{0, 4}, {1, 4}, {2, 5},
                                                               {3, 5}, {4, 5}, {4, 5}};
  for (const auto& [a, b] : pairs) test::add_cable(topology, a, b, kPlainLink, kPlainLink);
  const AllPairs all = route_all_pairs(topology);
  CHECK(all.connected);
  CHECK(all.shortest);
  CHECK_FALSE(has_cycle(all.next));
  // Of two parallel links the lower port.
  CHECK(route_packet(topology, NodeId(0), NodeId(2))[1] ==
        topology.link_between(NodeId(4), NodeId(5)));
}

TEST_CASE(
    "Of routes over equally many links, packets take the one whose slowest link is the fastest") {
  Topology topology("a slow spine");
  for (const char* name : {"a", "b"}) topology.add_node(name);
  for (const char* name : {"leaf_a", "leaf_b", "slow", "fast", "half"}) topology.add_switch(name);
  const auto cable = [&](std::size_t from, std::size_t to, std::uint64_t rate) {
    test::add_cable(topology, from, to, {25'000, rate}, {25'000, rate});
  };
  cable(0, 2, 8);
  cable(1, 3, 8);
  for (const std::size_t leaf : {2U, 3U}) {
    cable(leaf, 4, 1);
    cable(leaf, 5, 4);
    cable(leaf, 6, leaf == 2 ? 8 : 2);
  }
  const std::vector<LinkId> route = route_packet(topology, NodeId(0), NodeId(1));
  REQUIRE(route.size() == 4);
  CHECK(topology.link(route[1]).to == NodeId(5));
}

TEST_CASE("Lists of nodes whose routes look alike have one pattern") {
  const auto ids = [](std::vector<std::uint32_t> numbers) {
    return std::vector<NodeId>(numbers.begin(), numbers.end());
  };
  const Topology torus = make_torus({4, 4}, kPlainLink);
  const auto row = route_pattern(torus, ids({4, 5, 6, 7}));
  CHECK(route_pattern(torus, ids({8, 9, 10, 11})) == row);
  // A row that begins elsewhere, another order, a column, and a pair look different.
  CHECK(route_pattern(torus, ids({5, 6, 7, 4})) != row);
  CHECK(route_pattern(torus, ids({4, 6, 5, 7})) != row);
  CHECK(route_pattern(torus, ids({1, 5, 9, 13})) != row);
  CHECK(route_pattern(torus, ids({4, 5})) != row);

  // Servers of 4: pairs inside of a server, on one NIC, and in two servers of other rates.
  LinkSpec slow = kPlainLink;
  slow.bytes_per_second /= 3;
  const Topology cluster = make_gpu_cluster({3, 4, 2, 1}, kPlainLink, slow);
  const auto inside = route_pattern(cluster, ids({0, 1}));
  CHECK(route_pattern(cluster, ids({6, 7})) == inside);
  CHECK(route_pattern(cluster, ids({0, 4})) != inside);
  CHECK(route_pattern(cluster, ids({2, 10})) == route_pattern(cluster, ids({0, 4})));
  const Topology even = make_gpu_cluster({3, 4, 2, 1}, kPlainLink, kPlainLink);
  CHECK(route_pattern(even, ids({0, 4})) != route_pattern(cluster, ids({0, 4})));
}

TEST_CASE("Without links back there may be no legal route, and the error says so") {
  Topology topology("one-way ring");
  for (const char* name : {"a", "b", "c", "d"}) topology.add_node(name);
  for (std::size_t n = 0; n < 4; ++n) test::add_one_way(topology, n, (n + 1) % 4, kPlainLink);
  CHECK_THROWS_AS(route_packet(topology, NodeId(1), NodeId(0)), std::invalid_argument);
  CHECK_THROWS_AS(route_packet(topology, NodeId(1), NodeId(1)), std::invalid_argument);
}
