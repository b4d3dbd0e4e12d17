#include "alg/certify/certifier.h"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "alg/generators/generator.h"
#include "tests/support/share_of_cases.h"
#include "tests/unit/table_interpreter.h"
#include "tests/unit/table_mutations.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::MutatedField;

constexpr TransferKind kReduce = TransferKind::reduce;
constexpr TransferKind kCopy = TransferKind::copy;

// The violations of one kind, one per line.
std::string listed(const Certificate& certificate, ViolationKind kind) {
  std::string text;
  for (const Violation& v : certificate.violations) {
    if (v.kind == kind) text += v.what + "\n";
  }
  return text;
}
std::set<ViolationKind> kinds(const Certificate& certificate) {
  std::set<ViolationKind> result;
  for (const Violation& v : certificate.violations) result.insert(v.kind);
  return result;
}
using Kinds = std::set<ViolationKind>;

// A schedule over direct links, with chunks of 8 bytes.
struct Plan {
  Plan(Topology network, CollectiveOp op, std::size_t chunks)
      : topology(std::move(network)), schedule(topology) {
    schedule.op = op;
    schedule.num_nodes = topology.num_nodes();
    schedule.size = 8 * chunks;
    schedule.num_steps = 9;
    for (std::size_t c = 0; c < chunks; ++c) schedule.chunks.push_back({8 * c, 8, NodeId(c)});
  }
  TransferId add(TransferKind kind, std::size_t flow, std::size_t from, std::size_t to,
                 Timestep step, const std::vector<TransferId>& after = {}, std::size_t chunk = 0) {
    const RouteId route = RouteSet::single(topology.link_between(NodeId(from), NodeId(to)));
    return schedule.add(
        {NodeId(from), NodeId(to), FlowId(flow), ChunkId(chunk), 1, route, step, kind}, after);
  }
  [[nodiscard]] Certificate certified(const CertifierLimits& limits = {}) const {
    return certify(topology, schedule, limits);
  }
  Topology topology;
  Schedule schedule;
};

Plan pair(CollectiveOp op = CollectiveOp::all_reduce, std::size_t chunks = 1) {
  return {make_mesh({2}, test::kPlainLink), op, chunks};
}
Plan line_of_3(CollectiveOp op = CollectiveOp::all_reduce, std::size_t chunks = 1) {
  return {make_mesh({3}, test::kPlainLink), op, chunks};
}

TEST_CASE("The smallest all_reduce is certified") {
  Plan plan = pair();
  const auto reduce = plan.add(kReduce, 0, 1, 0, 1);
  plan.add(kCopy, 0, 0, 1, 2, {reduce});
  const Certificate certificate = plan.certified();
  CHECK(certificate.ok());
  CHECK(certificate.contention_free);
  CHECK(certificate.transfers == 2);
  CHECK(certificate.most_table_entries == 0);
}

TEST_CASE("Ids out of range and routes to the wrong node are malformed") {
  Plan plan = line_of_3(CollectiveOp::reduce_scatter, 2);
  const auto first = plan.add(kReduce, 0, 2, 1, 1);
  plan.add(kReduce, 0, 1, 0, 2, {first});
  Schedule& s = plan.schedule;
  std::string expected;
  SECTION("nodes of another system") {
    s.num_nodes = 4;
    expected = "for 4 nodes";
  }
  SECTION("sender") {
    s.transfers[1].from = NodeId(3);
    expected = "the sender 3 is not a node of this network";
  }
  SECTION("receiver") {
    s.transfers[1].to = NodeId();
    expected = "no receiver is given";
  }
  SECTION("to itself") {
    s.transfers[1].to = NodeId(1);
    expected = "both the sender and the receiver";
  }
  SECTION("flow") {
    s.transfers[1].flow = FlowId();
    expected = "no flow";
  }
  SECTION("no chunk") {
    s.transfers[1].num_chunks = 0;
    expected = "carries no chunk";
  }
  SECTION("chunk") {
    s.transfers[1].first_chunk = ChunkId(2);
    expected = "not among the 2";
  }
  SECTION("chunks past the end") {
    s.transfers[1].num_chunks = 0xffffffffU;
    expected = "not among the 2";
  }
  SECTION("step 0") {
    s.transfers[0].step = 0;
    expected = "steps are 1 to 9";
  }
  SECTION("step past the end") {
    s.transfers[1].step = 10;
    expected = "steps are 1 to 9";
  }
  SECTION("order of steps") {
    s.transfers[0].step = 3;
    expected = "the transfer before it has step 3";
  }
  SECTION("no route") {
    s.transfers[1].route = RouteId();
    expected = "no route";
  }
  SECTION("unknown route") {
    s.transfers[1].route = RouteId(99);
    expected = "route 99 does not exist";
  }
  SECTION("route elsewhere") {
    s.transfers[1].route = s.transfers[0].route;
    expected = "route leads from r_2 to r_1";
  }
  SECTION("route that passes its sender again") {
    const LinkId down = plan.topology.link_between(NodeId(1), NodeId(0));
    const LinkId up = plan.topology.link_between(NodeId(0), NodeId(1));
    s.transfers[1].route = s.routes.add(plan.topology, {down, up, down});
    expected = "passes a vertex twice";
  }
  SECTION("unknown dependency") {
    s.dependencies[0] = TransferId(7);
    expected = "does not exist";
  }
  SECTION("dependency that arrives elsewhere") {
    s.dependencies[0] = TransferId(1);
    expected = "and not at the sender";
  }
  SECTION("dependency on a later step") {
    s.transfers[1].step = 1;
    s.transfers[0].step = 2;
    std::swap(s.transfers[0], s.transfers[1]);
    s.dependency_begin = {0, 1, 1};
    s.dependencies = {TransferId(1)};
    expected = "which has a later step";
  }
  SECTION("dependency lists") {
    s.dependency_begin.back() = 5;
    expected = "lists of dependencies";
  }
  SECTION("the same message twice") {
    plan.add(kReduce, 0, 1, 0, 2, {first}, 1);
    expected = "cannot distinguish";
  }
  SECTION("gap between chunks") {
    s.chunks[1].offset = 9;
    expected = "end at byte 8 of 16";
  }
  SECTION("chunks too short") {
    s.size = 20;
    expected = "cover 16 of 20";
  }
  SECTION("chunks too long") {
    s.chunks[1].size = ~Bytes{0};
    expected = "end at byte 8 of 16";
  }
  SECTION("no owner") {
    s.chunks[1].owner = NodeId(3);
    expected = "the owner of chunk 1 is not a node";
  }
  SECTION("no bytes") {
    s.chunks[0].size = 0;
    s.chunks[1] = {0, 16, NodeId(1)};
    expected = "carries no bytes";
  }
  SECTION("no ports") {
    s.ni_ports = 0;
    expected = "at least 1 port";
  }
  REQUIRE_FALSE(expected.empty());
  CHECK_THAT(listed(plan.certified(), ViolationKind::malformed), Contains(expected));
}

TEST_CASE("A missing contribution is named with rank and chunk") {
  Plan plan = line_of_3(CollectiveOp::all_reduce, 2);
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    const auto reduce = plan.add(kReduce, chunk, 0, 1, 1, {}, chunk);
    TransferId sum;
    if (chunk == 0) {
      sum = plan.add(kReduce, chunk, 2, 1, 1, {}, chunk);
    }
    const std::vector<TransferId> after =
        chunk == 0 ? std::vector<TransferId>{reduce, sum} : std::vector<TransferId>{reduce};
    plan.add(kCopy, chunk, 1, 0, 2, after, chunk);
    plan.add(kCopy, chunk, 1, 2, 2, after, chunk);
  }
  plan.schedule.sort_by_step();
  plan.schedule.contention_free = false;
  const Certificate certificate = plan.certified();
  CHECK(kinds(certificate) == Kinds{ViolationKind::postcondition});
  CHECK(listed(certificate, ViolationKind::postcondition) ==
        "at the end chunk 1 at rank 0 misses the contribution of rank 2\n"
        "at the end chunk 1 at rank 1 misses the contribution of rank 2\n"
        "at the end chunk 1 at rank 2 misses the contribution of rank 2\n");
}

TEST_CASE("A contribution that is added twice is named") {
  Plan plan = pair();
  const auto once = plan.add(kReduce, 0, 1, 0, 1);
  const auto twice = plan.add(kReduce, 1, 1, 0, 2);
  plan.add(kCopy, 0, 0, 1, 3, {once, twice});
  const Certificate certificate = plan.certified();
  CHECK(kinds(certificate) == Kinds{ViolationKind::postcondition});
  CHECK(listed(certificate, ViolationKind::postcondition) ==
        "at the end chunk 0 at rank 0 holds the contribution of rank 1 more than once\n"
        "at the end chunk 0 at rank 1 holds the contribution of rank 1 more than once\n");
}

TEST_CASE("A double contribution that is overwritten in the end does no harm") {
  // Ranks 1 and 2 spoil chunk 0; the reduction of chunk 1 tells rank 0, which still has it, when to
  // repair it.
  Plan plan = line_of_3(CollectiveOp::all_reduce, 2);
  const auto from_0 = plan.add(kReduce, 0, 0, 1, 1);
  const auto from_2 = plan.add(kReduce, 0, 2, 1, 1);
  const auto to_0 = plan.add(kCopy, 0, 1, 0, 2, {from_0, from_2});
  const auto echo = plan.add(kCopy, 9, 0, 1, 3, {to_0});
  const auto doubled = plan.add(kReduce, 1, 1, 2, 4, {echo});
  const auto spoilt = plan.add(kCopy, 2, 2, 1, 5, {doubled});
  const auto partial = plan.add(kReduce, 20, 2, 1, 5, {doubled}, 1);
  const auto total = plan.add(kReduce, 20, 1, 0, 6, {spoilt, partial}, 1);
  const bool repair = GENERATE(true, false);
  const auto repaired = plan.add(kCopy, repair ? 3U : 4U, 0, 1, 7, {to_0, total}, repair ? 0 : 1);
  const auto to_1 = plan.add(kCopy, 20, 0, 1, 8, {total}, 1);
  plan.add(kCopy, 3, 1, 2, 8, {repaired}, 0);
  plan.add(kCopy, 20, 1, 2, 9, {to_1, repaired}, 1);
  plan.schedule.contention_free = false;
  if (repair) {
    CHECK(plan.certified().ok());
  } else {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 1 holds the contribution of rank 2 more than once\n"
          "at the end chunk 0 at rank 2 holds the contribution of rank 2 more than once\n");
  }
}

TEST_CASE("Each rank of a reduce_scatter needs its own chunks only") {
  Plan plan = pair(CollectiveOp::reduce_scatter, 2);
  plan.add(kReduce, 0, 1, 0, 1, {}, 0);
  SECTION("complete") {
    plan.add(kReduce, 1, 0, 1, 1, {}, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("the owner of chunk 1 lacks a part") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 1 at rank 1 misses the contribution of rank 0\n");
  }
}

TEST_CASE("Each rank of an all_gather ends with every owner's data and nothing else") {
  Plan plan = pair(CollectiveOp::all_gather, 2);
  plan.add(kCopy, 0, 0, 1, 1, {}, 0);
  SECTION("complete") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("a chunk that is not passed on") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 1 at rank 0 misses the contribution of rank 1\n");
  }
  SECTION("reading what was never written") {
    plan.add(kCopy, 1, 0, 1, 1, {}, 1);
    CHECK(listed(plan.certified(), ViolationKind::read_before_write) ==
          "the copy of flow 1 from 0 to 1 in step 1 reads chunk 1 at node 0, which was never "
          "written\n");
  }
  SECTION("adding to what was never written") {
    plan.add(kReduce, 1, 1, 0, 1, {}, 1);
    CHECK_THAT(listed(plan.certified(), ViolationKind::read_before_write),
               Contains("reads chunk 1 at node 0, which was never written"));
  }
}

// A broadcast from node 1 of a line of three, as a schedule.
Plan broadcast_from_middle() {
  Plan plan = line_of_3(CollectiveOp::broadcast, 1);
  plan.schedule.scope.root = NodeId(1);
  plan.schedule.chunks[0].owner = NodeId(1);
  plan.add(kCopy, 0, 1, 0, 1);
  return plan;
}

TEST_CASE("Each rank of a broadcast ends with the root's data") {
  Plan plan = broadcast_from_middle();
  SECTION("complete") {
    plan.add(kCopy, 0, 1, 2, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("a rank that gets nothing") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 2 misses the contribution of rank 1\n");
  }
  SECTION("data added to the root's own") {
    plan.add(kCopy, 0, 1, 2, 1);
    plan.add(kReduce, 1, 0, 1, 2, {TransferId(0)});
    CHECK_THAT(listed(plan.certified(), ViolationKind::postcondition),
               Contains("chunk 0 at rank 1 holds the contribution of rank 1 more than once"));
  }
  SECTION("from a node that is not the root") {
    plan.add(kCopy, 1, 2, 1, 1);
    CHECK_THAT(listed(plan.certified(), ViolationKind::read_before_write),
               Contains("reads chunk 0 at node 2, which was never written"));
  }
  SECTION("another root than the chunks have") {
    plan.add(kCopy, 0, 1, 2, 1);
    plan.schedule.scope.root = NodeId(0);
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("the owner of chunk 0 is node 1, but the root of the broadcast is node 0"));
  }
  SECTION("no root") {
    plan.schedule.scope.root = NodeId();
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed), Contains("needs a root"));
  }
  SECTION("a root where the collective has none") {
    plan.schedule.op = CollectiveOp::all_gather;
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("all_gather has no root"));
  }
}

TEST_CASE("The root of a reduce ends with every contribution once") {
  Plan plan = line_of_3(CollectiveOp::reduce, 1);
  plan.schedule.scope.root = NodeId(0);
  const auto far = plan.add(kReduce, 0, 2, 1, 1);
  SECTION("complete") {
    plan.add(kReduce, 0, 1, 0, 2, {far});
    CHECK(plan.certified().ok());
  }
  SECTION("a rank that is missing") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 0 misses the contribution of ranks 1, 2\n");
  }
  SECTION("a rank that is added twice") {
    const auto near = plan.add(kReduce, 0, 1, 0, 2, {far});
    plan.add(kReduce, 1, 1, 0, 3, {far});
    static_cast<void>(near);
    CHECK_THAT(listed(plan.certified(), ViolationKind::postcondition),
               Contains("holds the contribution of ranks 1, 2 more than once"));
  }
}

TEST_CASE("In a process group only members have data and must have the result") {
  // Nodes 0 and 2 sum up through node 1, which stores and passes on.
  Plan plan = line_of_3(CollectiveOp::all_reduce, 1);
  plan.schedule.scope.members = {NodeId(0), NodeId(2)};
  const auto up = plan.add(kReduce, 0, 0, 1, 1);
  const auto sum = plan.add(kReduce, 0, 1, 2, 2, {up});
  const auto back = plan.add(kCopy, 0, 2, 1, 3, {sum});
  SECTION("complete") {
    plan.add(kCopy, 0, 1, 0, 4, {back});
    CHECK(plan.certified().ok());
  }
  SECTION("a member without the result") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 0 misses the contribution of rank 2\n");
  }
  SECTION("with node 1 as a member, its contribution would be there") {
    plan.add(kCopy, 0, 1, 0, 4, {back});
    plan.schedule.scope.members = {};
    CHECK(plan.certified().ok());
  }
  SECTION("members out of order") {
    plan.schedule.scope.members = {NodeId(2), NodeId(0)};
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed), Contains("ascending order"));
  }
  SECTION("a chunk of a node outside") {
    plan.schedule.op = CollectiveOp::reduce_scatter;
    plan.schedule.chunks[0].owner = NodeId(1);
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("the owner of chunk 0 is node 1, which takes no part"));
  }
}

TEST_CASE("Each pair of an all_to_allv gets the bytes that are asked for") {
  Plan plan = pair(CollectiveOp::all_to_allv, 2);
  plan.schedule.chunks = {{0, 12, NodeId(0), NodeId(1)}, {12, 4, NodeId(1), NodeId(0)}};
  plan.schedule.scope.counts = {0, 12, 4, 0};
  plan.add(kCopy, 0, 0, 1, 1, {}, 0);
  SECTION("complete") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("a pair without its data") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 1 at rank 0 misses the contribution of rank 1\n");
  }
  SECTION("another division of the same bytes") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    plan.schedule.scope.counts = {0, 4, 12, 0};
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "rank 0 sends 12 bytes to rank 1, but must send 4\n"
          "rank 1 sends 4 bytes to rank 0, but must send 12\n");
  }
  SECTION("more bytes than chunks") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    plan.schedule.scope.counts = {0, 12, 8, 0};
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("the chunks cover 16 of 20 bytes"));
  }
  SECTION("no counts") {
    plan.schedule.scope.counts.clear();
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("found counts for 0 pairs of nodes; expected 4"));
  }
}

TEST_CASE("Tables of a broadcast and a reduce that the certifier passes compute them") {
  const Topology mesh = make_mesh({2, 2}, test::kPlainLink);
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    CollectiveRequest request;
    request.op = op;
    request.size = 64;
    request.root = 2;
    request.segments = 1;
    const ScheduleTables tables =
        lower_to_tables(find_generator("forest")->generate(mesh, request));
    std::size_t refused = 0;
    test::for_each_mutant(mesh, tables,
                          [&](MutatedField, const std::string&, const ScheduleTables& mutant) {
                            refused += certify(mesh, mutant).ok() ? 0U : 1U;
                          });
    CHECK(refused > 100);
    for (const test::TableMutant& mutant : test::accepted_mutants(mesh, tables)) {
      CAPTURE(to_string(op), mutant.what);
      for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        CHECK(test::TableInterpreter(mutant.tables, seed).run() == test::RunOutcome::right);
      }
    }
  }
}

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

TEST_CASE("Tables and children fields that are too small are named; NOPs take no entry") {
  const Topology topology = make_mesh({3, 3}, test::kPlainLink);
  CollectiveRequest request;
  request.size = 4096;
  const ScheduleTables tables =
      lower_to_tables(find_generator("multitree")->generate(topology, request));
  const Certificate certificate = certify(topology, tables);
  REQUIRE(certificate.ok());
  std::size_t most_rows = 0;
  for (const auto& entries : tables.nodes) most_rows = std::max(most_rows, entries.size());
  CHECK(most_rows > certificate.most_table_entries);
  CHECK(certificate.most_children > 1);

  CertifierLimits limits;
  limits.table_entries = certificate.most_table_entries;
  limits.children_slots = certificate.most_children;
  CHECK(certify(topology, tables, limits).ok());
  --limits.table_entries;
  CHECK_THAT(
      listed(certify(topology, tables, limits), ViolationKind::capacity),
      Contains("needs " + std::to_string(certificate.most_table_entries) + " table entries"));
  limits.table_entries = 0;
  --limits.children_slots;
  CHECK_THAT(listed(certify(topology, tables, limits), ViolationKind::capacity),
             Contains("has " + std::to_string(certificate.most_children) + " children"));
}

TEST_CASE("At most eight violations of a kind are listed, the rest are counted") {
  Plan plan = pair(CollectiveOp::all_reduce, 1);
  plan.schedule.num_steps = 1;
  for (std::size_t flow = 0; flow < 11; ++flow) plan.add(kReduce, flow, 0, 1, 2);
  const Certificate certificate = plan.certified();
  REQUIRE(certificate.violations.size() == 9);
  CHECK_THAT(certificate.violations[7].what, Contains("flow 7"));
  CHECK(certificate.violations[8].what == "and 3 more");
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

TEST_CASE("All Gathers of a root must wait for the same flows") {
  const Topology topology = make_mesh({2, 2}, test::kPlainLink);
  CollectiveRequest request;
  request.size = 4096;
  ScheduleTables tables = lower_to_tables(find_generator("multitree")->generate(topology, request));
  // Node 0's Gather of its own flow, a child at a time.
  auto& entries = tables.nodes[0];
  REQUIRE(entries[3].children.size() == 2);
  entries.insert(entries.begin() + 4, entries[3]);
  entries[3].children.pop_back();
  entries[4].children.erase(entries[4].children.begin());
  CHECK(certify(topology, tables).ok());
  entries[4].after.emplace_back(1);
  CHECK_THAT(listed(certify(topology, tables), ViolationKind::malformed),
             Contains("entry 3 is a Gather of the same root, but names other flows in After; all "
                      "Gathers of a root must name the same flows"));
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

TEST_CASE(
    "Every tree and ring schedule of every collective is certified, as transfers and as tables") {
  const std::vector<Topology> topologies{
      make_mesh({2, 2}, test::kPlainLink),  make_mesh({5, 3}, test::kPlainLink),
      make_torus({4, 4}, test::kPlainLink), make_torus({2, 2, 2}, test::kPlainLink),
      make_torus({2}, test::kPlainLink),    make_mesh({7}, test::kPlainLink)};
  for (const Topology& topology : topologies) {
    for (const char* algorithm : {"multitree", "ring", "2d_ring"}) {
      for (const CollectiveOp op :
           {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
        for (const Bytes size : {Bytes{12}, Bytes{4096}}) {
          const Generator& generator = *find_generator(algorithm);
          if (!generator.unsuited(topology).empty()) continue;
          CollectiveRequest request;
          request.op = op;
          request.size = size;
          const Schedule schedule = generator.generate(topology, request);
          CAPTURE(topology.name(), algorithm, to_string(op), size);
          const Certificate of_transfers = certify(topology, schedule);
          CHECK(of_transfers.ok());
          const Certificate of_tables = certify(topology, lower_to_tables(schedule));
          CHECK(of_tables.ok());
          CHECK(of_tables.transfers == schedule.transfers.size());
          CHECK(of_tables.contention_free == of_transfers.contention_free);
        }
      }
    }
  }
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

// ------------------------------------------------------------------ single-field corruptions of
// MULTITREE's tables

struct MutationCase {
  const char* name;
  Topology topology;
  CollectiveOp op;
};

std::vector<MutationCase> mutation_cases() {
  std::vector<MutationCase> cases;
  cases.push_back({"3x3 mesh", make_mesh({3, 3}, test::kPlainLink), CollectiveOp::all_reduce});
  cases.push_back({"3x3 torus", make_torus({3, 3}, test::kPlainLink), CollectiveOp::all_reduce});
  cases.push_back({"2x2 torus", make_torus({2, 2}, test::kPlainLink), CollectiveOp::all_reduce});
  cases.push_back({"3x2 mesh, reduce_scatter", make_mesh({3, 2}, test::kPlainLink),
                   CollectiveOp::reduce_scatter});
  return cases;
}

ScheduleTables multitree_tables(const MutationCase& c) {
  CollectiveRequest request;
  request.op = c.op;
  request.size = c.topology.num_nodes() * 16 + 8;  // chunks of two sizes
  return lower_to_tables(find_generator("multitree")->generate(c.topology, request));
}

// Which corruptions may pass, and why data do not change:
//   step   the entry keeps its place among the dependencies and no link has two transfers of a
//          step: only time changes;
//   after  the entry waits for one more flow, which is complete without it, and nobody else waits
//          for what is held meanwhile: only time changes;
//   route  another way to the same node, on links that are free in this step and in no cycle of
//          channels;
//   flow   only in a reduce_scatter, where nobody waits for the last Reduce on its way to the
//          owner: the same bytes are added in the same place, under another name.
bool is_harmless(const MutationCase& c, MutatedField field) {
  return field == MutatedField::step || field == MutatedField::after ||
         field == MutatedField::route ||
         (field == MutatedField::flow && c.op == CollectiveOp::reduce_scatter);
}

// Which kinds a corruption of each field may be rejected with.
bool is_expected(MutatedField field, ViolationKind kind) {
  switch (kind) {
    case ViolationKind::malformed:
      return true;  // by far the most
    case ViolationKind::deadlock:
      return true;  // somebody waits for what no longer comes
    case ViolationKind::contention:
      return field != MutatedField::size && field != MutatedField::start_addr;
    case ViolationKind::postcondition:
    case ViolationKind::read_before_write:
      return field != MutatedField::route && field != MutatedField::after &&
             field != MutatedField::step;
    case ViolationKind::capacity:
      return false;
  }
  return false;
}

TEST_CASE(
    "Every corruption of op, flow, parent, children, address or size of a table entry is "
    "rejected") {
  for (const MutationCase& c : mutation_cases()) {
    const ScheduleTables tables = multitree_tables(c);
    REQUIRE(certify(c.topology, tables).ok());
    std::map<MutatedField, std::size_t> rejected;
    std::map<ViolationKind, std::size_t> by_kind;
    std::size_t accepted = 0;
    test::for_each_mutant(
        c.topology, tables,
        [&](MutatedField field, const std::string& what, const ScheduleTables& mutant) {
          const Certificate certificate = certify(c.topology, mutant);
          CAPTURE(c.name, what);
          if (certificate.ok()) {
            ++accepted;
            CHECK(is_harmless(c, field));
            return;
          }
          ++rejected[field];
          for (const ViolationKind kind : kinds(certificate)) {
            ++by_kind[kind];
            CHECK(is_expected(field, kind));
          }
        });
    CAPTURE(c.name);
    for (const MutatedField field :
         {MutatedField::op, MutatedField::flow, MutatedField::parent, MutatedField::children,
          MutatedField::step, MutatedField::start_addr, MutatedField::size, MutatedField::after,
          MutatedField::route}) {
      CHECK(rejected[field] > 0);
    }
    for (const ViolationKind kind :
         {ViolationKind::malformed, ViolationKind::deadlock, ViolationKind::postcondition,
          ViolationKind::read_before_write}) {
      CHECK(by_kind[kind] > 0);
    }
    CHECK(accepted > 0);
  }
}

// Harmless means: whatever order the hardware takes them in, the data come out right.
TEST_CASE("Accepted corruptions give the right result in every order that the tables allow") {
  test::ShareOfCases share(5);
  for (const MutationCase& c : mutation_cases()) {
    const ScheduleTables tables = multitree_tables(c);
    for (const test::TableMutant& mutant : test::accepted_mutants(c.topology, tables)) {
      if (!share.take()) continue;
      for (std::uint32_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(c.name, mutant.what, seed);
        CHECK(test::TableInterpreter(mutant.tables, seed).run() == test::RunOutcome::right);
      }
    }
  }
}

TEST_CASE("Running corrupted tables confirms the certifier's findings") {
  const MutationCase c{"3x2 mesh", make_mesh({3, 2}, test::kPlainLink), CollectiveOp::all_reduce};
  const ScheduleTables tables = multitree_tables(c);
  std::size_t races_seen = 0;
  test::for_each_mutant(
      c.topology, tables,
      [&](MutatedField /*field*/, const std::string& what, const ScheduleTables& mutant) {
        const Kinds found = kinds(certify(c.topology, mutant));
        CAPTURE(what);
        const auto outcome = [&](std::uint32_t seed) {
          return test::TableInterpreter(mutant, seed).run();
        };
        if (found.count(ViolationKind::malformed) != 0) return;
        if (found.count(ViolationKind::deadlock) != 0) {
          CHECK(outcome(1) == test::RunOutcome::stuck);
        } else if (found == Kinds{ViolationKind::postcondition}) {
          CHECK(outcome(1) == test::RunOutcome::wrong_data);
        } else if (found.count(ViolationKind::read_before_write) != 0) {
          // Some order goes wrong, not every one.
          for (std::uint32_t seed = 1; seed <= 20; ++seed) {
            if (outcome(seed) == test::RunOutcome::right) continue;
            ++races_seen;
            break;
          }
        }
      });
  CHECK(races_seen > 0);
}

}  // namespace
}  // namespace espalier
