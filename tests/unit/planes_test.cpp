// Parallel planes of switches, parallel links, and what is cut over them.
#include "alg/routes/planes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include "alg/generators/generator.h"
#include "alg/generators/process_group.h"
#include "alg/program/connection_routes.h"
#include "alg/routes/routing.h"
#include "test_networks.h"
#include "tests/support/certify_schedule.h"

using namespace espalier;

namespace {

constexpr std::uint64_t kGigabyte = 1'000'000'000;

Bytes bytes_of(const Schedule& schedule) {
  Bytes bytes = 0;
  for (const Transfer& t : schedule.transfers) bytes += schedule.bytes_of(t);
  return bytes;
}

// By plane: the share of all bytes that nodes send into it.
std::vector<double> shares_of(const Topology& topology, const Schedule& schedule) {
  const Planes planes(topology);
  std::vector<double> share(planes.size(), 0);
  for (const Transfer& t : schedule.transfers) {
    share[planes.of(schedule.routes.link(t.route, 0))] +=
        static_cast<double>(schedule.bytes_of(t)) / static_cast<double>(bytes_of(schedule));
  }
  return share;
}

}  // namespace

TEST_CASE("Switches that only nodes connect are planes, the fastest first") {
  const Topology topology = make_switch_planes(4, {100, 125, 100});
  const Planes planes(topology);
  REQUIRE(planes.size() == 3);
  CHECK(planes.rates() == std::vector<std::uint64_t>{125'000, 100'000, 100'000});
  for (const LinkId link : topology.out_links(topology.find_vertex("s1"))) {
    CHECK(planes.of(link) == 0);
  }
  CHECK(planes.of(topology.out_links(topology.find_vertex("s0")).front()) == 1);
}

TEST_CASE("A plane that lacks a node, or a way back, is none") {
  Topology partial = make_switch_planes(4, {100, 100});
  const NodeId third = partial.add_switch("s2");
  for (std::size_t n = 0; n < 3; ++n) {
    add_cable(partial, NodeId(n), third, {1000, 100 * kGigabyte});
  }
  CHECK(Planes(partial).size() == 2);
  Topology one_way = make_switch_planes(4, {100, 100});
  const NodeId other = one_way.add_switch("s2");
  for (std::size_t n = 0; n < 4; ++n) {
    if (n == 3) {
      test::add_one_way(one_way, n, other.index(), {1000, 100 * kGigabyte});
    } else {
      add_cable(one_way, NodeId(n), other, {1000, 100 * kGigabyte});
    }
  }
  CHECK(Planes(one_way).size() == 2);
  CHECK(Planes(one_way).of(one_way.out_links(other).front()) == Planes::kNone);
}

TEST_CASE("Parallel links between all neighbours are planes") {
  const Topology ring = test::cables(3, {{0, 1}, {1, 2}, {2, 0}, {0, 1}, {1, 2}, {2, 0}, {0, 1}});
  const Planes planes(ring);
  REQUIRE(planes.size() == 2);
  CHECK(planes.of(LinkId(0)) == 0);
  CHECK(planes.of(LinkId(6)) == 1);
  CHECK(planes.of(LinkId(12)) == 1);  // a third link between 0 and 1 stays with the last plane
  CHECK(Planes(test::cables(3, {{0, 1}, {1, 2}, {2, 0}, {0, 1}})).size() < 2);
  CHECK(Planes(test::cables(3, {{0, 1}, {1, 2}})).size() < 2);
}

TEST_CASE("Families with routes of their own have no planes") {
  CHECK(Planes(make_switch_pair(4, test::kPlainLink)).size() == 0);
  CHECK(Planes(make_torus({2, 2}, test::kPlainLink)).size() == 0);
  CHECK(Planes(make_gpu_cluster({2, 4, 2, 2}, test::kPlainLink, test::kPlainLink)).size() == 0);
}

TEST_CASE("Packets take planes in turn, each as often as its rate demands, and stay in them") {
  const Topology topology = make_switch_planes(4, {125, 100, 100, 125});
  const Planes planes(topology);
  const std::vector<std::uint32_t> turns = planes.turns();
  REQUIRE(turns.size() == 18);
  REQUIRE(packet_turns(topology) == 18);
  for (std::uint32_t p = 0; p < 4; ++p) {
    CHECK(std::count(turns.begin(), turns.end(), p) == (p < 2 ? 5 : 4));
  }
  std::set<std::uint32_t> first_four(turns.begin(), turns.begin() + 4);
  CHECK(first_four.size() == 4);
  for (std::uint32_t channel = 0; channel < 18; ++channel) {
    const auto route = route_packet(topology, NodeId(1), NodeId(3), channel);
    REQUIRE(route.size() == 2);
    CHECK(planes.of(route[0]) == turns[(1 + 3 + channel) % 18]);
    CHECK(planes.of(route[1]) == planes.of(route[0]));
  }
  CHECK(packet_turns(make_single_switch(4, test::kPlainLink)) == 1);
}

TEST_CASE("Routes of many messages, which find planes once, are those of single packets") {
  const Topology planes = make_switch_planes(4, {125, 100, 100, 125});
  const Topology ring = test::cables(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}});
  for (const Topology* topology : {&planes, &ring}) {
    RouteTurns turns(*topology);
    for (std::size_t from = 0; from < topology->num_nodes(); ++from) {
      for (std::size_t to = 0; to < topology->num_nodes(); ++to) {
        if (from == to) continue;
        CHECK(turns.next(NodeId(from), NodeId(to)) ==
              route_packet(*topology, NodeId(from), NodeId(to)));
      }
    }
  }
}

TEST_CASE("Messages of a program are cut over all planes by rate") {
  const Topology topology = make_switch_planes(4, {125, 100, 100, 125});
  RouteSet routes(topology);
  const ConnectionRoutes of = connection_routes(topology, routes, NodeId(0), NodeId(2), 7);
  REQUIRE(of.size() == 4);
  CHECK(of.cut(4500) == std::vector<Bytes>{1250, 1250, 1000, 1000});
  CHECK(of.cut(1023) == std::vector<Bytes>{365, 365, 293});
  CHECK(of.cut(64) == std::vector<Bytes>{64});
  CHECK(of.cut(0) == std::vector<Bytes>{0});
  for (std::size_t r = 0; r < 4; ++r) CHECK(routes.hops(of.route(r)) == 2);
  // Another channel of the same ranks has the same routes.
  CHECK(connection_routes(topology, routes, NodeId(0), NodeId(2), 0).first == of.first);
}

TEST_CASE("Messages of a program to a neighbour are cut over its parallel links by rate") {
  Topology pair("pair");
  pair.add_node("a");
  pair.add_node("b");
  test::add_cable(pair, 0, 1, {1000, 10 * kGigabyte}, {1000, 10 * kGigabyte});
  test::add_cable(pair, 0, 1, {1000, 30 * kGigabyte}, {1000, 30 * kGigabyte});
  RouteSet routes(pair);
  const ConnectionRoutes of = connection_routes(pair, routes, NodeId(1), NodeId(0), 0);
  REQUIRE(of.size() == 2);
  CHECK(of.cut(4000) == std::vector<Bytes>{3000, 1000});
  CHECK(routes.link(of.route(0), 0) == LinkId(3));
  CHECK(routes.link(of.route(1), 0) == LinkId(1));
}

TEST_CASE("Every algorithm over ranks sends in all planes, as much as their rates demand") {
  const Topology topology = make_switch_planes(8, {125, 100, 100, 125});
  for (const char* name : {"ring", "bidirectional_ring", "direct", "halving_doubling", "bcube",
                           "dbtree", "multitree"}) {
    CAPTURE(name);
    CollectiveRequest request;
    request.size = Bytes{9} << 20;
    request.base = 2;
    const Schedule schedule = find_generator(name)->generate(topology, request);
    CHECK(certify(topology, schedule).ok());
    const std::vector<double> shares = shares_of(topology, schedule);
    for (std::size_t p = 0; p < 4; ++p) {
      CHECK(shares[p] == Approx(p < 2 ? 5.0 / 18 : 4.0 / 18).epsilon(0.001));
    }
  }
}

TEST_CASE("Remainders of several planes do not add up") {
  for (const std::vector<std::uint64_t>& rates :
       std::vector<std::vector<std::uint64_t>>{{64, 32}, {64, 64, 64}, {40, 20, 10}}) {
    const Topology topology = make_switch_planes(5, rates);
    for (const Generator& generator : generators()) {
      if (generator.plans_times || !generator.unsuited(topology).empty()) continue;
      for (const CollectiveOp op : generator.ops) {
        if (has_counts(op)) continue;  // cut by pair or rank
        for (const Bytes elements : {4001U, 10007U, 16384U, 99998U}) {
          CollectiveRequest request;
          request.op = op;
          request.size = 4 * elements;
          request.root = 2;
          request.base = 5;
          CAPTURE(generator.name, to_string(op), elements, rates);
          CHECK(certify(topology, generator.generate(topology, request)).ok());
        }
      }
    }
  }
}

TEST_CASE("A double tree has as many segments, and so timesteps, in every plane") {
  const Generator& dbtree = *find_generator("dbtree");
  CollectiveRequest request;
  request.size = 640'000;
  const Schedule one = dbtree.generate(make_switch_planes(16, {40}), request);
  const Schedule three = dbtree.generate(make_switch_planes(16, {40, 20, 10}), request);
  CHECK(three.num_steps == one.num_steps);
  CHECK(three.chunks.size() == 3 * one.chunks.size());
}

TEST_CASE("An algorithm with one table for all nodes uses parallel links of unequal rates") {
  Topology topology("pair");
  const NodeId a = topology.add_node("a");
  const NodeId b = topology.add_node("b");
  add_cable(topology, a, b, {1000, 16 * kGigabyte}, "0");
  add_cable(topology, a, b, {1000, 8 * kGigabyte}, "1");
  const Generator& translated = *find_generator("multitree_translated");
  REQUIRE(translated.unsuited(topology).empty());
  for (const CollectiveOp op : translated.ops) {
    CollectiveRequest request;
    request.op = op;
    request.size = 400000;
    CHECK(certify(topology, lower_to_tables(translated.generate(topology, request))).ok());
  }
}

TEST_CASE("A process group uses the planes that its ranks share") {
  Topology whole = make_switch_planes(8, {100, 100});
  const NodeId third = whole.add_switch("s2");
  for (std::size_t n = 0; n < 4; ++n) {
    add_cable(whole, NodeId(n), third, {1000, 100 * kGigabyte});
  }
  CHECK(Planes(whole).size() == 2);
  const std::vector<NodeId> nodes{NodeId(0), NodeId(3), NodeId(1)};
  const ProcessGroup group(whole, nodes);
  CHECK(Planes(group.network()).size() == 3);
  const std::vector<bool> relays = group.relays();
  CHECK(std::count(relays.begin(), relays.end(), true) == 5);
}

TEST_CASE("forest sends step by step in all planes of a process group") {
  const Topology whole = make_switch_planes(8, {100, 50});
  const std::vector<NodeId> nodes{NodeId(0), NodeId(2), NodeId(5), NodeId(7)};
  const ProcessGroup group(whole, nodes);
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = Bytes{12} << 20;
  const Schedule schedule =
      group.in_whole(find_generator("forest")->generate(group.network(), request));
  CHECK(certify(whole, schedule).ok());
  const std::vector<double> shares = shares_of(whole, schedule);
  CHECK(shares[0] == Approx(2.0 / 3).epsilon(0.01));
}
