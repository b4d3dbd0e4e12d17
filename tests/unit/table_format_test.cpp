// Bits of a schedule-table entry.
#include <catch2/catch.hpp>

#include "alg/generators/generator.h"
#include "alg/schedule/schedule_table.h"
#include "test_graphs.h"
#include "tests/support/networks.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

ScheduleTables tables_of(const Topology& topology, const char* algorithm) {
  CollectiveRequest request;
  request.size = 1 << 20;
  request.segments = 1;
  return lower_to_tables(find_generator(algorithm)->generate(topology, request));
}

}  // namespace

TEST_CASE("MULTITREE on 64 nodes: 128 entries of 177 bits, 2832 bytes") {
  const TableFormat format =
      table_format(tables_of(make_torus({8, 8}, kPlainLink), "multitree"), 64);
  CHECK(to_string(format) ==
        "Op 2, FlowID 6, Parent 7, Children 4 x 7, Step 6, Start Addr 64, Size 64");
  CHECK(format.entry_bits() == 177);
  CHECK(format.table_bytes(128) == 2832);
}

// What the paper's 200 bits may be made of: it does not list the fields' widths.
TEST_CASE("In whole bytes, with 16 bits of step, an entry has the paper's 200 bits and 3.2 KB") {
  TableFormat format = table_format(tables_of(make_torus({8, 8}, kPlainLink), "multitree"), 64);
  format.op = 8;
  format.flow = 8;
  format.node = 8;
  format.step = 16;
  CHECK(format.entry_bits() == 200);
  CHECK(format.table_bytes(128) == 3200);
}

TEST_CASE("One relative table names the flows of all roots") {
  const Topology torus = make_torus({4, 4}, kPlainLink);
  const TableFormat format = table_format(tables_of(torus, "multitree_translated"), 16);
  CHECK(format.flow == 4);
  CHECK(format.node == 5);
}

TEST_CASE("Algorithms that wait for other flows carry their ids in the entry") {
  const Topology torus = make_torus({4, 4}, kPlainLink);
  const TableFormat format = table_format(tables_of(torus, "2d_ring"), 16);
  CHECK(format.after_fields > 0);
  CHECK(format.entry_bits() == 2 + format.flow * (1 + format.after_fields) +
                                   5 * (1 + format.children_fields) + format.step + 128);
}
