#include "alg/schedule/schedule_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <tuple>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/schedule/schedule_text.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;

Schedule generate(const char* algorithm, const Topology& topology, CollectiveOp op, Bytes size) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  return find_generator(algorithm)->generate(topology, request);
}

using TransferKey = std::tuple<Timestep, std::uint32_t, TransferKind, NodeId, NodeId, ChunkId,
                               std::uint32_t, RouteId>;
TransferKey key_of(const Transfer& t) {
  return {t.step, t.flow.value(), t.kind, t.from, t.to, t.first_chunk, t.num_chunks, t.route};
}

// Transfers with the transfers they depend on, free of ids and order.
std::vector<std::pair<TransferKey, std::vector<TransferKey>>> contents(const Schedule& s) {
  std::vector<std::pair<TransferKey, std::vector<TransferKey>>> result;
  for (std::size_t t = 0; t < s.transfers.size(); ++t) {
    std::vector<TransferKey> before;
    for (auto d = s.dependency_begin[t]; d < s.dependency_begin[t + 1]; ++d) {
      before.push_back(key_of(s.transfers[s.dependencies[d].index()]));
    }
    std::sort(before.begin(), before.end());
    result.emplace_back(key_of(s.transfers[t]), before);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// 0 - 1 - 2, two chunks of 8 bytes, all_reduce.
class LineSchedule {
 public:
  LineSchedule() : topology(make_mesh({3}, test::kPlainLink)), schedule(topology) {
    schedule.num_nodes = 3;
    schedule.size = 16;
    schedule.num_steps = 9;
    schedule.chunks = {{0, 8, NodeId(0)}, {8, 8, NodeId(1)}};
  }
  TransferId add(TransferKind kind, std::size_t flow, std::size_t from, std::size_t to,
                 Timestep step, const std::vector<TransferId>& after = {}, std::size_t chunk = 0) {
    const RouteId route = RouteSet::single(topology.link_between(NodeId(from), NodeId(to)));
    return schedule.add(
        {NodeId(from), NodeId(to), FlowId(flow), ChunkId(chunk), 1, route, step, kind}, after);
  }
  Topology topology;
  Schedule schedule;
};

constexpr TransferKind kReduce = TransferKind::reduce;
constexpr TransferKind kCopy = TransferKind::copy;

TEST_CASE("MULTITREE on a 2x2 mesh gives the tables of the paper's Fig. 5") {
  // The figure prints flow 1 for accelerator 2's entry of step 3; a root gathers its own flow, and
  // here it is 2.
  const Topology topology = make_mesh({2, 2}, test::kPlainLink);
  const Schedule schedule = generate("multitree", topology, CollectiveOp::all_reduce, 4096);
  std::ostringstream text;
  write_table_text(text, lower_to_tables(schedule));
  CHECK(text.str() ==
        "accelerator 0\n"
        "  Op      FlowID  Parent  Children  Step  Start Addr  Size\n"
        "  Reduce  3       1       nil       1     3072        1024\n"
        "  Reduce  1       1       nil       2     1024        1024\n"
        "  Reduce  2       2       1         2     2048        1024\n"
        "  Gather  0       nil     1 2       3     0           1024\n"
        "  Gather  2       2       1         4     2048        1024\n"
        "\n"
        "accelerator 1\n"
        "  Op      FlowID  Parent  Children  Step  Start Addr  Size\n"
        "  Reduce  2       0       nil       1     2048        1024\n"
        "  Reduce  0       0       nil       2     0           1024\n"
        "  Reduce  3       3       0         2     3072        1024\n"
        "  Gather  1       nil     0 3       3     1024        1024\n"
        "  Gather  3       3       0         4     3072        1024\n"
        "\n"
        "accelerator 2\n"
        "  Op      FlowID  Parent  Children  Step  Start Addr  Size\n"
        "  Reduce  1       3       nil       1     1024        1024\n"
        "  Reduce  3       3       nil       2     3072        1024\n"
        "  Reduce  0       0       3         2     0           1024\n"
        "  Gather  2       nil     0 3       3     2048        1024\n"
        "  Gather  0       0       3         4     0           1024\n"
        "\n"
        "accelerator 3\n"
        "  Op      FlowID  Parent  Children  Step  Start Addr  Size\n"
        "  Reduce  0       2       nil       1     0           1024\n"
        "  Reduce  2       2       nil       2     2048        1024\n"
        "  Reduce  1       1       2         2     1024        1024\n"
        "  Gather  3       nil     1 2       3     3072        1024\n"
        "  Gather  1       1       2         4     1024        1024\n");
}

TEST_CASE("Raising lowered tables gives back the same transfers and dependencies") {
  const std::vector<Topology> topologies{
      make_mesh({2, 2}, test::kPlainLink), make_mesh({3, 3}, test::kPlainLink),
      make_torus({4, 4}, test::kPlainLink), make_torus({2, 2}, test::kPlainLink),
      make_mesh({4, 2}, test::kPlainLink)};
  const std::vector<std::pair<const char*, CollectiveOp>> cases{
      {"2d_ring", CollectiveOp::all_reduce},       {"multitree", CollectiveOp::all_reduce},
      {"multitree", CollectiveOp::reduce_scatter}, {"multitree", CollectiveOp::all_gather},
      {"ring", CollectiveOp::all_reduce},          {"ring", CollectiveOp::reduce_scatter},
      {"ring", CollectiveOp::all_gather},          {"2d_ring", CollectiveOp::reduce_scatter},
      {"2d_ring", CollectiveOp::all_gather}};
  for (const Topology& topology : topologies) {
    for (const auto& [algorithm, op] : cases) {
      for (const Bytes size : {Bytes{20}, Bytes{4096}}) {
        CAPTURE(topology.name(), algorithm, to_string(op), size);
        const Schedule schedule = generate(algorithm, topology, op, size);
        const Schedule back = raise_from_tables(topology, lower_to_tables(schedule));
        CHECK(contents(back) == contents(schedule));
        CHECK(back.algorithm == schedule.algorithm);
        CHECK(back.num_steps == schedule.num_steps);
        CHECK(back.contention_free == schedule.contention_free);
        CHECK(std::is_sorted(back.transfers.begin(), back.transfers.end(),
                             [](const Transfer& a, const Transfer& b) { return a.step < b.step; }));
      }
    }
  }
}

TEST_CASE("A node gets a NOP for every step in which it sends nothing, the last ones included") {
  LineSchedule line;
  line.schedule.num_steps = 6;
  line.add(kReduce, 0, 1, 0, 2);
  line.add(kReduce, 1, 1, 2, 4);
  const ScheduleTables tables = lower_to_tables(line.schedule);
  std::vector<std::pair<TableOp, Timestep>> rows;
  for (const TableEntry& e : tables.nodes[1]) rows.emplace_back(e.op, e.step);
  CHECK(rows == std::vector<std::pair<TableOp, Timestep>>{{TableOp::nop, 1},
                                                          {TableOp::reduce, 2},
                                                          {TableOp::nop, 3},
                                                          {TableOp::reduce, 4},
                                                          {TableOp::nop, 5},
                                                          {TableOp::nop, 6}});
  CHECK(tables.nodes[0].size() == 6);
}

TEST_CASE("Waiting for another flow becomes After, at its root and where its Gather arrives") {
  LineSchedule line;
  const auto to_root = line.add(kReduce, 0, 1, 0, 1);
  const auto to_one = line.add(kCopy, 0, 0, 1, 2, {to_root});
  line.add(kReduce, 7, 0, 1, 3, {to_root}, 1);
  line.add(kReduce, 8, 1, 2, 3, {to_one}, 1);
  const ScheduleTables tables = lower_to_tables(line.schedule);
  CHECK(tables.nodes[0][2].after == std::vector<FlowId>{FlowId(0)});
  CHECK(tables.nodes[1][2].after == std::vector<FlowId>{FlowId(0)});
  CHECK(contents(raise_from_tables(line.topology, tables)) == contents(line.schedule));

  std::ostringstream text;
  write_table_text(text, tables);
  CHECK_THAT(text.str(), Contains("Start Addr  Size  After\n"));
  CHECK_THAT(text.str(), Contains("Reduce  8       2       nil       3     8           8     0\n"));
  CHECK_THAT(text.str(),
             Contains("NOP     nil     nil     nil       1     nil         nil   nil\n"));
}

TEST_CASE("A schedule that tables cannot express is refused, and the error names the transfer") {
  LineSchedule line;
  const auto lowering_fails_with = [&](const std::string& transfer, const std::string& why) {
    CHECK_THROWS_WITH(lower_to_tables(line.schedule), Contains(transfer) && Contains(why));
  };
  SECTION("two Reduces of a flow from one node") {
    line.add(kReduce, 0, 1, 0, 1);
    line.add(kReduce, 0, 1, 2, 2);
    lowering_fails_with("reduce of flow 0 from 1 to 2 in step 2", "another Reduce");
  }
  SECTION("a Reduce after the Gather of its flow") {
    const auto copy = line.add(kCopy, 0, 0, 1, 1);
    line.add(kReduce, 0, 1, 2, 2, {copy});
    lowering_fails_with("reduce of flow 0 from 1 to 2 in step 2", "Gather of its own flow");
  }
  SECTION("a Gather that also waits for a Reduce of its flow") {
    const auto copy = line.add(kCopy, 0, 0, 1, 1);
    const auto reduce = line.add(kReduce, 0, 2, 1, 1);
    line.add(kCopy, 0, 1, 2, 2, {copy, reduce});
    lowering_fails_with("copy of flow 0 from 1 to 2 in step 2", "only a root's Gather");
  }
  SECTION("a root's Gather that does not wait for a Reduce") {
    const auto first = line.add(kReduce, 0, 0, 1, 1);
    line.add(kReduce, 0, 2, 1, 1);
    line.add(kCopy, 0, 1, 0, 2, {first});
    lowering_fails_with("copy of flow 0 from 1 to 0 in step 2", "all Reduces");
  }
  SECTION("a Gather that does not wait for the Gather it receives") {
    line.add(kCopy, 0, 0, 1, 1);
    line.add(kCopy, 0, 1, 2, 2);
    lowering_fails_with("copy of flow 0 from 1 to 2 in step 2", "does not depend on the copy");
  }
  SECTION("a flow whose Gather reaches a node twice") {
    line.add(kCopy, 0, 0, 1, 1);
    line.add(kCopy, 0, 2, 1, 2);
    lowering_fails_with("copy of flow 0 from 2 to 1 in step 2",
                        "also receives this flow from node 0");
  }
  SECTION("a wait for another flow that is not complete") {
    const auto reduce = line.add(kReduce, 0, 0, 1, 1);
    line.add(kReduce, 0, 1, 2, 2, {reduce});
    line.add(kReduce, 5, 1, 2, 3, {reduce}, 1);
    lowering_fails_with("reduce of flow 5 from 1 to 2 in step 3", "does not complete that flow");
  }
  SECTION("a wait for a part of what completes another flow") {
    const auto reduce = line.add(kReduce, 0, 0, 1, 1);
    line.add(kReduce, 0, 2, 1, 1);
    line.add(kReduce, 5, 1, 2, 3, {reduce}, 1);
    lowering_fails_with("reduce of flow 5 from 1 to 2 in step 3",
                        "not on exactly the arrivals that complete");
  }
  SECTION("two Gathers of a root that wait for different flows") {
    const auto other = line.add(kCopy, 3, 0, 1, 1, {}, 1);
    line.add(kCopy, 0, 1, 0, 2);
    line.add(kCopy, 0, 1, 2, 3, {other});
    lowering_fails_with("copy of flow 0 from 1 to 2 in step 3",
                        "the same flows as the copy of flow 0");
  }
  SECTION("two Gathers of one step that differ") {
    const auto other = line.add(kCopy, 3, 0, 1, 1, {}, 1);
    line.add(kCopy, 0, 1, 0, 2);
    line.add(kCopy, 0, 1, 2, 2, {other});
    lowering_fails_with("copy of flow 0 from 1 to 2 in step 2", "share a Gather entry");
  }
}

TEST_CASE("An invalid table entry is an error that names node and entry") {
  const Topology topology = make_mesh({2, 2}, test::kPlainLink);
  ScheduleTables tables =
      lower_to_tables(generate("multitree", topology, CollectiveOp::all_reduce, 4096));
  TableEntry& reduce = tables.nodes[2][1];
  TableEntry& gather = tables.nodes[2][4];
  const auto raising_fails_with = [&](const std::string& entry, const std::string& why) {
    CHECK_THROWS_AS(raise_from_tables(topology, tables), TableError);
    CHECK_THROWS_WITH(raise_from_tables(topology, tables), Contains(entry) && Contains(why));
  };
  SECTION("Reduce without parent") {
    reduce.parent = {};
    raising_fails_with("entry 1 of node 2", "needs a parent");
  }
  SECTION("peer without route") {
    gather.children[0].route = RouteId();
    raising_fails_with("entry 4 of node 2", "no route");
  }
  SECTION("range off the chunk borders") {
    reduce.size -= 4;
    raising_fails_with("entry 1 of node 2", "borders of chunks");
  }
  SECTION("range that wraps around the address space") {
    reduce.size = ~Bytes{0};
    raising_fails_with("entry 1 of node 2", "not within");
  }
  SECTION("wait for what nobody sends") {
    reduce.children.push_back({NodeId(1), RouteId()});
    raising_fails_with("entry 1 of node 2", "node 1 never sends");
  }
  SECTION("wait for a flow that never completes") {
    reduce.after.emplace_back(9);
    raising_fails_with("entry 1 of node 2", "waits for flow 9");
  }
  SECTION("step order") {
    std::swap(tables.nodes[2][0], tables.nodes[2][4]);
    raising_fails_with("entry 1 of node 2", "the entry before it has step 4");
  }
  SECTION("NOP with anything else") {
    reduce.op = TableOp::nop;
    raising_fails_with("entry 1 of node 2", "no other field");
  }
}

TEST_CASE("A range that begins and ends with empty chunks comes back without them") {
  LineSchedule line;
  line.schedule.chunks = {{0, 0, NodeId(0)},
                          {0, 8, NodeId(0)},
                          {8, 0, NodeId(1)},
                          {8, 8, NodeId(1)},
                          {16, 0, NodeId(2)}};
  line.add(kReduce, 0, 1, 0, 1);
  line.schedule.transfers[0].num_chunks = 5;
  const Schedule back = raise_from_tables(line.topology, lower_to_tables(line.schedule));
  CHECK(back.transfers[0].first_chunk == ChunkId(1));
  CHECK(back.transfers[0].num_chunks == 3);
  CHECK(back.bytes_of(back.transfers[0]) == 16);
}

}  // namespace
}  // namespace espalier
