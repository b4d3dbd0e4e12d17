// Rows with repeat count and strides issue exactly the entries of the table that they replace.
#include <catch2/catch.hpp>

#include "alg/generators/generator.h"
#include "alg/schedule/repeated_rows.h"
#include "alg/schedule/schedule_table.h"
#include "test_graphs.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

bool same(const TablePeer& a, const TablePeer& b) { return a.node == b.node && a.route == b.route; }

bool same(const TableEntry& a, const TableEntry& b) {
  return a.op == b.op && a.flow == b.flow && same(a.parent, b.parent) &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [](const TablePeer& x, const TablePeer& y) { return same(x, y); }) &&
         a.step == b.step && a.start_addr == b.start_addr && a.size == b.size &&
         a.after == b.after && a.not_before_ps == b.not_before_ps;
}

ScheduleTables tables_of(const Topology& topology, const std::string& algorithm, CollectiveOp op,
                         Bytes size) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  return lower_to_tables(find_generator(algorithm)->generate(topology, request));
}

struct PassedEntry {
  TableEntry entry;
  std::uint32_t rows_passed = 0;
};

std::vector<PassedEntry> issued_entries(const RepeatedTable& table) {
  std::vector<PassedEntry> issued;
  for_each_issued(table, [&](const TableEntry& entry, std::uint32_t rows_passed) {
    issued.push_back({entry, rows_passed});
  });
  return issued;
}

// The rows of the node that needs most. Checks every node's rows against its table.
std::size_t most_rows(const ScheduleTables& tables) {
  std::size_t most = 0;
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    const std::vector<TableEntry>& table = tables.nodes[n];
    const RepeatedTable repeated = repeat_rows(table);
    const std::vector<PassedEntry> issued = issued_entries(repeated);
    REQUIRE(issued.size() == stored_rows(tables, n));
    std::size_t i = 0;
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::nop) continue;
      REQUIRE(same(entry, issued[i++].entry));
    }
    CHECK(repeated.rows() <= issued.size());
    most = std::max(most, repeated.rows());
  }
  return most;
}

std::size_t most_entries(const ScheduleTables& tables) {
  std::size_t most = 0;
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    most = std::max(most, stored_rows(tables, n));
  }
  return most;
}

}  // namespace

TEST_CASE("Every algorithm's tables are issued again by their rows, for every operation") {
  const Topology torus = make_torus({4, 4}, kPlainLink);
  test::ShareOfCases share(3);
  for (const Generator& generator : generators()) {
    for (const CollectiveOp op : generator.ops) {
      if (has_counts(op)) continue;  // needs counts
      if (generator.unsuited && !generator.unsuited(torus).empty()) continue;
      if (!share.take()) continue;
      INFO(generator.name << " " << to_string(op));
      most_rows(tables_of(torus, generator.name, op, 1'000'003));
    }
  }
}

TEST_CASE("A periodic schedule's table takes as many rows as a period has sends") {
  const Topology mesh = make_mesh({4, 4}, kPlainLink);
  const ScheduleTables tables = tables_of(mesh, "forest", CollectiveOp::all_reduce, 64 << 20);
  CHECK(most_entries(tables) > 1000);
  CHECK(most_rows(tables) <= 256);
}

TEST_CASE("A ring's table takes two rows for each of its two phases and directions") {
  const Topology ring = make_torus({16}, kPlainLink);
  const ScheduleTables tables = tables_of(ring, "ring", CollectiveOp::all_gather, 1 << 20);
  CHECK(most_entries(tables) == 15);
  CHECK(most_rows(tables) <= 4);
}

TEST_CASE("The last entry of a row may be shorter, and a row that is not its turn is passed") {
  const auto entry = [](std::size_t flow, Bytes address, Bytes size, std::size_t child) {
    TableEntry e;
    e.op = TableOp::gather;
    e.flow = FlowId(flow);
    e.children = {{NodeId(child), RouteId(child)}};
    e.start_addr = address;
    e.size = size;
    return e;
  };
  // Row A sends flows 0, 1, 2 to node 1; row B sends the same a pass later to node 2.
  const std::vector<TableEntry> table = {entry(0, 0, 100, 1),   entry(1, 100, 100, 1),
                                         entry(0, 0, 100, 2),   entry(2, 200, 30, 1),
                                         entry(1, 100, 100, 2), entry(2, 200, 30, 2)};
  const RepeatedTable repeated = repeat_rows(table);
  REQUIRE(repeated.loops.size() == 1);
  REQUIRE(repeated.rows() == 2);
  CHECK(repeated.loops[0][0].count == 3);
  CHECK(repeated.loops[0][0].address_stride == 100);
  CHECK(repeated.loops[0][0].last_size == 30);
  CHECK(repeated.loops[0][1].first_pass == 1);
  const std::vector<PassedEntry> issued = issued_entries(repeated);
  REQUIRE(issued.size() == 6);
  CHECK(issued[1].rows_passed == 1);  // B is not yet on
  CHECK(issued[2].rows_passed == 0);
  CHECK(issued[5].rows_passed == 1);  // A is over
}
