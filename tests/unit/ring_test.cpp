#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"
#include "alg/generators/rings.h"
#include "alg/time/schedule_time.h"
#include "schedule_oracle.h"
#include "test_graphs.h"
#include "tests/support/certify_schedule.h"
#include "tests/support/networks.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

constexpr const char* kBoth[] = {"ring", "bidirectional_ring"};

void check_all_ops_and_sizes(const Topology& topology, std::uint32_t seed) {
  CAPTURE(topology.name());
  REQUIRE(unsuited_for_routes(topology).empty());
  const Bytes nodes = topology.num_nodes();
  for (const char* name : kBoth) {
    const auto generate = find_generator(name)->make;
    for (const CollectiveOp op : test::kAllOps) {
      for (const Bytes elements : {Bytes{0}, Bytes{1}, nodes - 1, 2 * nodes, 7 * nodes + 3}) {
        CollectiveRequest request;
        request.op = op;
        request.size = 4 * elements;
        const Schedule schedule = generate(topology, request);
        CAPTURE(schedule.algorithm, to_string(op), elements);
        test::require_well_formed(topology, schedule);
        test::require_fits_tables(schedule);
        CHECK(test::ScheduleOracle(schedule, test::Arrival::added, seed).runs_and_is_right());
      }
    }
  }
}

CollectiveRequest large(CollectiveOp op, const Topology& topology) {
  CollectiveRequest request;
  request.op = op;
  request.size = topology.num_nodes() * 1024;
  return request;
}

}  // namespace

TEST_CASE("Ring collectives are right on grids in any order their dependencies allow") {
  const std::vector<std::vector<std::uint32_t>> shapes{{2},    {3},    {5},       {2, 2},   {3, 3},
                                                       {4, 4}, {2, 5}, {2, 3, 2}, {3, 3, 3}};
  std::uint32_t seed = 1;
  for (const auto& dims : shapes) {
    check_all_ops_and_sizes(make_torus(dims, kPlainLink), ++seed);
    check_all_ops_and_sizes(make_mesh(dims, kPlainLink), ++seed);
  }
}

TEST_CASE("Ring collectives are right on irregular networks") {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t nodes = 2 + test::pick(random, 9);
    check_all_ops_and_sizes(
        test::cables(nodes, test::random_pairs(random, nodes, test::pick(random, nodes))), seed);
  }
}

TEST_CASE("The checks of these tests detect a broken ring schedule") {
  const Topology topology = make_torus({4}, kPlainLink);
  Schedule schedule =
      find_generator("ring")->generate(topology, large(CollectiveOp::all_reduce, topology));
  // The last gather of a chunk becomes a reduce: one rank is counted twice.
  schedule.transfers.back().kind = TransferKind::reduce;
  CHECK_FALSE(test::ScheduleOracle(schedule, test::Arrival::added, 1).runs_and_is_right());
}

TEST_CASE("RING keeps every link of its ring busy in every step") {
  const Topology topology = make_torus({4, 4}, kPlainLink);
  const Schedule schedule =
      find_generator("ring")->generate(topology, large(CollectiveOp::all_reduce, topology));
  CHECK(schedule.algorithm == "ring");
  CHECK(schedule.num_steps == 30);
  CHECK(schedule.ni_ports == 1);
  CHECK(schedule.contention_free);
  CHECK(schedule.chunks.size() == 16);
  CHECK(schedule.transfers.size() == 30 * 16);
  std::map<Timestep, std::size_t> per_step;
  for (const Transfer& t : schedule.transfers) ++per_step[t.step];
  for (const auto& [step, transfers] : per_step) CHECK(transfers == 16);
}

TEST_CASE(
    "A chunk starts behind its rank, ends its reduce-scatter there and is gathered from there") {
  const Topology topology = make_torus({3, 3}, kPlainLink);
  const Schedule schedule =
      find_generator("ring")->generate(topology, large(CollectiveOp::all_reduce, topology));
  const NodeRing ring = find_node_ring(topology);
  for (std::size_t place = 0; place < ring.nodes.size(); ++place) {
    const NodeId rank = ring.nodes[place];
    const NodeId successor = ring.nodes[(place + 1) % ring.nodes.size()];
    for (const Transfer& t : schedule.transfers) {
      if (t.flow.index() != rank.index()) continue;
      CHECK(t.first_chunk.index() == rank.index());
      CHECK((t.kind == TransferKind::reduce) == (t.step <= 8));
      if (t.step == 1) CHECK(t.from == successor);
      if (t.step == 8) CHECK(t.to == rank);
      if (t.step == 9) CHECK(t.from == rank);
    }
  }
}

TEST_CASE("The bidirectional ring moves half of the data each way without contention") {
  const std::vector<std::vector<std::uint32_t>> shapes{{2}, {2, 2}, {4, 4}, {3, 3}, {2, 3}};
  for (const auto& dims : shapes) {
    const Topology topology = make_torus(dims, kPlainLink);
    CAPTURE(topology.name());
    const Schedule schedule = find_generator("bidirectional_ring")
                                  ->generate(topology, large(CollectiveOp::all_reduce, topology));
    const std::size_t nodes = topology.num_nodes();
    CHECK(schedule.algorithm == "bidirectional_ring");
    CHECK(schedule.contention_free);
    CHECK(schedule.ni_ports == 2);
    CHECK(schedule.chunks.size() == 2 * nodes);
    CHECK(schedule.num_steps == 2 * (nodes - 1));
    std::map<std::pair<NodeId, NodeId>, std::size_t> clockwise;
    std::map<std::pair<NodeId, NodeId>, std::size_t> back;
    for (const Transfer& t : schedule.transfers) {
      if (t.flow.index() < nodes) ++clockwise[{t.from, t.to}];
      if (t.flow.index() >= nodes) ++back[{t.to, t.from}];
    }
    CHECK(clockwise == back);
  }
}

TEST_CASE("More pairs of rings let other nodes of a switch feed the slow link behind it") {
  Topology topology("slow links between four switches");
  constexpr std::size_t kNodes = 12;  // three of a switch
  for (std::size_t n = 0; n < kNodes; ++n) topology.add_node("n" + std::to_string(n));
  for (const char* name : {"s", "t", "u", "v"}) topology.add_switch(name);
  const LinkSpec fast{25'000, 10'000'000'000};
  const LinkSpec slow{25'000, 8'000'000'000};
  for (std::size_t n = 0; n < kNodes; ++n) {
    test::add_cable(topology, n, kNodes + n / 3, fast, fast);
  }
  for (std::size_t s = kNodes; s < kNodes + 4; ++s) {
    for (std::size_t t = s + 1; t < kNodes + 4; ++t) test::add_cable(topology, s, t, slow, slow);
  }
  const Generator& rings = *find_generator("bidirectional_ring");
  CollectiveRequest request = large(CollectiveOp::all_reduce, topology);
  std::map<std::uint32_t, std::set<NodeId>> feeds;
  std::map<std::uint32_t, std::uint64_t> time_ps;
  for (const std::uint32_t pairs : {1U, 3U}) {
    request.segments = pairs;
    REQUIRE_FALSE(rings.problem(topology, request));
    const Schedule schedule = rings.generate(topology, request);
    CHECK(certify(topology, schedule).ok());
    CHECK(schedule.chunks.size() == 2 * kNodes * pairs);
    for (const Transfer& t : schedule.transfers) {
      if (t.from.index() < 3 && t.to.index() >= 3) feeds[pairs].insert(t.from);
    }
    time_ps[pairs] = schedule_time_ps(topology, schedule, request.timing);
  }
  CHECK(feeds[1].size() == 2);
  CHECK(feeds[3].size() == 3);
  CHECK(static_cast<double>(time_ps[3]) < 0.98 * static_cast<double>(time_ps[1]));
  // On links of one rate the rings would be alike.
  request.segments = 2;
  const auto problem = rings.problem(make_single_switch(6, kPlainLink), request);
  REQUIRE(problem);
  CHECK(problem->key == "collective.segments");
}

TEST_CASE("Two nodes with parallel cables turn both ways without contention, with one cable not") {
  const Topology two = test::cables(2, {{0, 1}, {0, 1}});
  CHECK(find_generator("bidirectional_ring")
            ->generate(two, large(CollectiveOp::all_reduce, two))
            .contention_free);
  const Topology one = test::cables(2, {{0, 1}});
  CHECK_FALSE(find_generator("bidirectional_ring")
                  ->generate(one, large(CollectiveOp::all_reduce, one))
                  .contention_free);
}

TEST_CASE("A line carries one ring free of contention but not two") {
  const Topology line = make_mesh({6}, kPlainLink);
  CHECK(find_generator("ring")
            ->generate(line, large(CollectiveOp::all_gather, line))
            .contention_free);
  CHECK_FALSE(find_generator("bidirectional_ring")
                  ->generate(line, large(CollectiveOp::all_gather, line))
                  .contention_free);
}

TEST_CASE("Algorithms that only need routes say why a network has none") {
  for (const char* name : {"ring", "bidirectional_ring", "direct", "halving_doubling", "dbtree"}) {
    const auto unsuited = find_generator(name)->unsuited;
    CAPTURE(name);
    Topology alone("alone");
    alone.add_node("a");
    CHECK(unsuited(alone) == "A collective needs at least two nodes");

    Topology one_way("one-way");
    for (const char* node : {"a", "b", "c"}) one_way.add_node(node);
    for (std::size_t n = 0; n < 3; ++n) test::add_one_way(one_way, n, (n + 1) % 3, kPlainLink);
    CHECK(unsuited(one_way) == "Routes need links in both directions; 'a' to 'b' has no link back");

    CHECK(unsuited(test::cables(3, {{0, 1}})) ==
          "A collective needs a connected network; 'n2' cannot reach every node or be reached from "
          "it");
  }
}
