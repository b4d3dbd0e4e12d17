// What the certifier accepts, what it calls malformed or too large, and how many violations it
// lists.
#include <catch2/catch.hpp>

#include "alg/generators/generator.h"
#include "certifier_test_support.h"
#include "tests/support/networks.h"

namespace espalier::certifier_test {
namespace {

using Catch::Matchers::Contains;

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
  limits.children_fields = certificate.most_children;
  CHECK(certify(topology, tables, limits).ok());
  --limits.table_entries;
  CHECK_THAT(
      listed(certify(topology, tables, limits), ViolationKind::capacity),
      Contains("needs " + std::to_string(certificate.most_table_entries) + " table entries"));
  limits.table_entries = 0;
  --limits.children_fields;
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

}  // namespace
}  // namespace espalier::certifier_test
