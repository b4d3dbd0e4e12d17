// What the certifier demands of the order of transfers: no races, no deadlock, no contention.
#include <catch2/catch.hpp>

#include "alg/generators/generator.h"
#include "certifier_test_support.h"
#include "table_interpreter.h"
#include "tests/support/networks.h"

namespace espalier::certifier_test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("Data that may be overwritten while they are read are a violation") {
  Plan plan = line_of_3(CollectiveOp::all_gather);
  const auto first = plan.add(kCopy, 0, 0, 1, 1);
  SECTION("forwarding without waiting for the data") {
    plan.add(kCopy, 0, 1, 2, 2);
    CHECK(listed(plan.certified(), ViolationKind::read_before_write) ==
          "the copy of flow 0 from 0 to 1 in step 1 overwrites chunk 0 at node 1 and the copy of "
          "flow 0 from 1 to 2 in step 2 reads it, but no chain of dependencies orders the two "
          "transfers\n");
  }
  SECTION("a second copy that does not wait for the reader") {
    plan.add(kCopy, 0, 1, 2, 2, {first});
    plan.add(kCopy, 1, 0, 1, 3);
    CHECK_THAT(
        listed(plan.certified(), ViolationKind::read_before_write),
        Contains("flow 0 from 1 to 2 in step 2 reads chunk 0 at node 1 and the copy of flow 1 "
                 "from 0 to 1 in step 3 overwrites it"));
  }
  SECTION("waiting for the data") {
    plan.add(kCopy, 0, 1, 2, 2, {first});
    CHECK(plan.certified().ok());
  }
}

TEST_CASE("A sum that is sent on while a reduce may still arrive is a violation") {
  Plan plan = line_of_3();
  const auto a = plan.add(kReduce, 0, 0, 1, 1);
  const auto b = plan.add(kReduce, 0, 2, 1, 1);
  const bool wait_for_both = GENERATE(true, false);
  const std::vector<TransferId> sum =
      wait_for_both ? std::vector<TransferId>{a, b} : std::vector<TransferId>{a};
  plan.add(kCopy, 0, 1, 0, 2, sum);
  plan.add(kCopy, 0, 1, 2, 2, {a, b});
  if (wait_for_both) {
    CHECK(plan.certified().ok());
  } else {
    CHECK(listed(plan.certified(), ViolationKind::read_before_write) ==
          "the reduce of flow 0 from 2 to 1 in step 1 adds to chunk 0 at node 1 and the copy of "
          "flow 0 from 1 to 0 in step 2 reads it, but no chain of dependencies orders the two "
          "transfers\n");
  }
}

TEST_CASE("A read and a later write may be ordered by way of other chunks") {
  // Node 0 sends chunk 0; only a token (chunk 1) tells node 1 that it has arrived at node 2 and may
  // be replaced.
  Plan plan{make_torus({3}, test::kPlainLink), CollectiveOp::all_gather, 2};
  const auto zero_to_two = plan.add(kCopy, 0, 0, 2, 1);
  const auto zero_to_one = plan.add(kCopy, 1, 0, 1, 1);
  const bool with_token = GENERATE(true, false);
  std::vector<TransferId> after{zero_to_one};
  plan.add(kCopy, 2, 1, 0, 2, {}, 1);
  plan.schedule.num_steps = 12;
  const auto to_two = plan.add(kCopy, 3, 1, 2, 3, {}, 1);
  static_cast<void>(to_two);
  const auto token = plan.add(kCopy, 4, 2, 1, 4, {zero_to_two, to_two}, 1);
  if (with_token) after.push_back(token);
  plan.add(kCopy, 5, 1, 0, 5, after);
  const std::string races = listed(plan.certified(), ViolationKind::read_before_write);
  const std::string overwritten =
      "flow 0 from 0 to 2 in step 1 reads chunk 0 at node 0 and the copy of flow 5";
  if (with_token) {
    CHECK_THAT(races, !Contains(overwritten));
  } else {
    CHECK_THAT(races, Contains(overwritten));
  }
}

TEST_CASE("A schedule of many races is refused without looking at each") {
  Plan plan{make_mesh({8, 8}, test::kPlainLink), CollectiveOp::all_reduce, 1};
  plan.schedule.num_steps = 64;
  for (std::size_t n = 0; n < 63; ++n) {
    if (n % 8 != 7) plan.add(kCopy, 0, n, n + 1, static_cast<Timestep>(n + 1));
  }
  CHECK_THAT(listed(plan.certified(), ViolationKind::read_before_write),
             Contains("the search stopped here"));
}

TEST_CASE("The certifier finds one lost dependency among a hundred thousand transfers") {
  const Topology topology = make_torus({16, 16}, test::kPlainLink);
  CollectiveRequest request;
  request.size = 256 * 64;
  Schedule schedule = find_generator("multitree")->generate(topology, request);
  REQUIRE(certify(topology, schedule).ok());
  const std::size_t lost = schedule.dependencies.size() / 2;
  schedule.dependencies.erase(schedule.dependencies.begin() + static_cast<std::ptrdiff_t>(lost));
  for (auto& begin : schedule.dependency_begin) begin -= begin > lost ? 1 : 0;
  CHECK(kinds(certify(topology, schedule)).count(ViolationKind::read_before_write) == 1);
}

TEST_CASE("2D-RING's second phase is safe in any order, because Reduces that come early are held") {
  const Topology topology = make_torus({3, 3}, test::kPlainLink);
  CollectiveRequest request;
  request.size = 360;
  const Schedule schedule = find_generator("2d_ring")->generate(topology, request);
  CHECK(certify(topology, schedule).ok());
  ScheduleTables tables = lower_to_tables(schedule);
  REQUIRE(certify(topology, tables).ok());
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(test::TableInterpreter(tables, seed).run() == test::RunOutcome::right);
  }
  for (auto& entries : tables.nodes) {
    for (TableEntry& e : entries) e.after.clear();
  }
  CHECK(kinds(certify(topology, tables)).count(ViolationKind::read_before_write) == 1);
  CHECK(test::TableInterpreter(tables, 1).run() == test::RunOutcome::wrong_data);
}

TEST_CASE("Transfers that wait for each other are printed as a cycle") {
  Plan plan = pair();
  plan.add(kReduce, 0, 1, 0, 2, {TransferId(1)});
  plan.add(kReduce, 1, 0, 1, 2, {TransferId(0)});
  const Certificate certificate = plan.certified();
  CHECK(kinds(certificate) == Kinds{ViolationKind::deadlock});
  const std::string cycle = listed(certificate, ViolationKind::deadlock);
  CHECK_THAT(cycle, Contains("reduce of flow 0 from 1 to 0 in step 2 waits for"));
  CHECK_THAT(cycle, Contains("reduce of flow 1 from 0 to 1 in step 2 waits for"));
}

TEST_CASE("Table order can close a cycle that the dependencies alone do not") {
  // Each node first waits for what the other sends second. The flows' sums are of no interest here.
  const Topology topology = make_mesh({2}, test::kPlainLink);
  const LinkId there = topology.link_between(NodeId(0), NodeId(1));
  const LinkId back = topology.link_between(NodeId(1), NodeId(0));
  ScheduleTables tables(topology);
  tables.size = 32;
  tables.num_steps = 1;
  tables.nodes.resize(2);
  for (std::size_t c = 0; c < 4; ++c) tables.chunks.push_back({8 * c, 8, NodeId()});
  const auto entry = [&](std::size_t flow, NodeId to, LinkId link, std::vector<FlowId> after) {
    TableEntry e;
    e.op = TableOp::reduce;
    e.flow = FlowId(flow);
    e.parent = {to, RouteSet::single(link)};
    e.start_addr = 8 * flow;
    e.size = 8;
    e.after = std::move(after);
    return e;
  };
  tables.nodes[0] = {entry(0, NodeId(1), there, {FlowId(3)}), entry(1, NodeId(1), there, {})};
  tables.nodes[1] = {entry(2, NodeId(0), back, {FlowId(1)}), entry(3, NodeId(0), back, {})};
  tables.contention_free = false;
  const Certificate certificate = certify(topology, tables);
  const std::string cycle = listed(certificate, ViolationKind::deadlock);
  CHECK_THAT(
      cycle,
      Contains("entry 0 of node 0 (Reduce of flow 0 in step 1) waits for") &&
          Contains("entry 1 of node 1 (Reduce of flow 3 in step 1) comes in its table after") &&
          Contains("entry 0 of node 1 (Reduce of flow 2 in step 1) waits for") &&
          Contains("entry 1 of node 0 (Reduce of flow 1 in step 1) comes in its table after"));
  // The transfers by themselves could all go.
  CHECK(listed(certify(topology, raise_from_tables(topology, tables)), ViolationKind::deadlock)
            .empty());

  std::swap(tables.nodes[0][0], tables.nodes[0][1]);
  CHECK(listed(certify(topology, tables), ViolationKind::deadlock).empty());
}

TEST_CASE("An entry cannot wait for a flow that its own node sends on later") {
  const Topology topology = make_mesh({2, 2}, test::kPlainLink);
  CollectiveRequest request;
  request.size = 4096;
  ScheduleTables tables = lower_to_tables(find_generator("multitree")->generate(topology, request));
  // Node 0 receives the Gathers of flows 1, 2 and 3, and sends on that of flow 2 in its last entry.
  REQUIRE(tables.nodes[0].size() == 5);
  tables.nodes[0][4].after = {FlowId(0)};
  CHECK(certify(topology, tables).ok());
  tables.nodes[0][4].after.clear();
  // Complete on time, but still to be sent on.
  TableEntry early = tables.nodes[0][4];
  early.flow = FlowId(7);
  early.parent = {};
  early.after = {FlowId(2)};
  tables.nodes[0].insert(tables.nodes[0].begin() + 4, early);
  CHECK_THAT(
      listed(certify(topology, tables), ViolationKind::deadlock),
      Contains(
          "entry 4 of node 0 (Gather of flow 7 in step 4) waits until entry 5 of node 0 (Gather of "
          "flow 2 in step 4) has been sent, but that entry comes later in the same table"));
}

TEST_CASE("Routes round a ring with one VC class make a cycle of channels; a dateline breaks it") {
  Plan plan{make_torus({4}, test::kPlainLink), CollectiveOp::all_reduce, 1};
  for (std::size_t n = 0; n < 4; ++n) {
    const NodeId from(n);
    const NodeId middle((n + 1) % 4);
    const NodeId to((n + 2) % 4);
    const RouteId route = plan.schedule.routes.add(
        plan.topology,
        {plan.topology.link_between(from, middle), plan.topology.link_between(middle, to)});
    plan.schedule.add({from, to, FlowId(n), ChunkId(0), 1, route, 1, kReduce}, {});
  }
  CertifierLimits one_class;
  one_class.vc_classes = 1;
  const std::string cycle = listed(plan.certified(one_class), ViolationKind::deadlock);
  CHECK_THAT(cycle, Contains("link r_0.e in VC class 0") && Contains("link r_1.e in VC class 0") &&
                        Contains("link r_2.e in VC class 0") &&
                        Contains("link r_3.e in VC class 0"));
  CHECK(listed(plan.certified(), ViolationKind::deadlock).empty());
}

TEST_CASE("Contention names the pair, the link and the step, if the schedule claims to have none") {
  Plan plan = line_of_3();
  const LinkId down = plan.topology.link_between(NodeId(2), NodeId(1));
  const RouteId far = plan.schedule.routes.add(
      plan.topology, {down, plan.topology.link_between(NodeId(1), NodeId(0))});
  plan.add(kReduce, 0, 2, 1, 4);
  plan.schedule.add({NodeId(2), NodeId(0), FlowId(1), ChunkId(0), 1, far, 4, kReduce}, {});
  const Certificate certificate = plan.certified();
  CHECK_FALSE(certificate.contention_free);
  CHECK(listed(certificate, ViolationKind::contention) ==
        "in step 4 link r_2.w carries both the reduce of flow 0 from 2 to 1 in step 4 and the "
        "reduce of flow "
        "1 from 2 to 0 in step 4\n");

  plan.schedule.contention_free = false;
  CHECK(listed(plan.certified(), ViolationKind::contention).empty());
  CHECK_FALSE(plan.certified().contention_free);

  plan.schedule.transfers[1].step = 5;
  CHECK(plan.certified().contention_free);
}

}  // namespace
}  // namespace espalier::certifier_test
