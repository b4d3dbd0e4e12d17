// The certifier judges one round of a periodic schedule for all rounds. Its verdict is that of the
// certifier which follows every transfer, also for broken tables.
#include <catch2/catch.hpp>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "test_graphs.h"
#include "test_networks.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

ScheduleTables repeated_tables(const Topology& topology, const char* algorithm, CollectiveOp op,
                               Bytes size, std::uint32_t segments) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  request.segments = segments;
  request.table_repeat = true;
  ScheduleTables tables = lower_to_tables(find_generator(algorithm)->generate(topology, request));
  repeat_all_rows(tables);
  return tables;
}

Certificate certify_each_entry(const Topology& topology, ScheduleTables tables) {
  tables.repeated.clear();
  return certify(topology, tables);
}

// The tables that the rows issue.
void issue_again(ScheduleTables& tables) {
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    tables.nodes[n].clear();
    for_each_issued(tables.repeated[n], [&](const TableEntry& entry, std::uint32_t) {
      tables.nodes[n].push_back(entry);
    });
  }
}

}  // namespace

TEST_CASE("A periodic schedule is judged by one round, and its certificate is that of all rounds") {
  test::ShareOfCases share(17);
  for (const Topology& topology : test::small_networks()) {
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
      if (!find_generator("forest")->unsuited(topology).empty() || !share.take()) continue;
      INFO(topology.name() << " " << to_string(op));
      const ScheduleTables tables = repeated_tables(topology, "forest", op, 1'000'000, 16);
      const Certificate by_round = certify(topology, tables);
      const Certificate by_entry = certify_each_entry(topology, tables);
      CHECK(by_round.ok());
      CHECK(by_entry.ok());
      CHECK(by_round.transfers == by_entry.transfers);
      CHECK(by_round.contention_free == by_entry.contention_free);
    }
  }
}

TEST_CASE("The transfers that are judged do not grow with the rounds") {
  const Topology mesh = make_mesh({4, 4}, kPlainLink);
  const auto judged = [&](Bytes size, std::uint32_t segments) {
    const ScheduleTables tables =
        repeated_tables(mesh, "forest", CollectiveOp::all_reduce, size, segments);
    const Certificate certificate = certify(mesh, tables);
    CHECK(certificate.ok());
    CHECK(certificate.transfers >= segments * certificate.judged_transfers / 4);
    return certificate.judged_transfers;
  };
  CHECK(judged(64 << 20, test::kSanitized ? 256 : 1024) <= judged(4 << 20, 64));
}

TEST_CASE("Rows that do not issue the table are malformed") {
  const Topology mesh = make_mesh({2, 2}, kPlainLink);
  ScheduleTables tables = repeated_tables(mesh, "forest", CollectiveOp::all_reduce, 1 << 20, 64);
  REQUIRE(certify(mesh, tables).ok());
  const auto refused = [&](const char* text) {
    const Certificate certificate = certify(mesh, tables);
    REQUIRE_FALSE(certificate.ok());
    CHECK(certificate.violations.front().kind == ViolationKind::malformed);
    CHECK_THAT(certificate.violations.front().what, Catch::Matchers::Contains(text));
  };
  RepeatedRow& row = tables.repeated[3].loops.front().front();
  SECTION("one pass too few") {
    --row.count;
    refused("rows of node 3 do not issue");
  }
  SECTION("one pass too many") {
    tables.nodes[3].pop_back();
    refused("node 3 issue more entries");
  }
  SECTION("a wrong stride") {
    row.address_stride += 4;
    refused("rows of node 3 do not issue");
  }
  SECTION("rows of other nodes only") {
    tables.repeated.pop_back();
    refused("rows for 3 nodes, but tables for 4 nodes");
  }
}

TEST_CASE("Broken rows get the same verdict from one round as from all entries") {
  const Topology mesh = make_mesh({3, 2}, kPlainLink);
  const CollectiveOp op = GENERATE(CollectiveOp::all_reduce, CollectiveOp::all_gather);
  const ScheduleTables good = repeated_tables(mesh, "forest", op, 1 << 20, 32);
  REQUIRE(certify(mesh, good).ok());
  REQUIRE(certify(mesh, good).judged_transfers < certify(mesh, good).transfers);
  std::size_t broken = 0;
  test::ShareOfCases share(11);
  const auto compare = [&](ScheduleTables& tables, const std::string& what) {
    if (!share.take()) return;
    INFO(what);
    issue_again(tables);
    const Certificate by_entry = certify_each_entry(mesh, tables);
    const Certificate by_round = certify(mesh, tables);
    CHECK(by_round.ok() == by_entry.ok());
    if (by_entry.ok()) return;
    ++broken;
    REQUIRE_FALSE(by_round.violations.empty());
    CHECK(by_round.violations.front().what == by_entry.violations.front().what);
  };
  for (std::size_t n = 0; n < good.nodes.size(); ++n) {
    REQUIRE(good.repeated[n].loops.size() == 1);
    for (std::size_t r = 0; r < good.repeated[n].rows(); ++r) {
      const std::string place = "node " + std::to_string(n) + " row " + std::to_string(r);
      ScheduleTables tables = good;
      auto& loop = tables.repeated[n].loops.front();
      loop.erase(loop.begin() + static_cast<std::ptrdiff_t>(r));
      compare(tables, place + " is lost");
      tables = good;
      ++tables.repeated[n].loops.front()[r].first_pass;
      compare(tables, place + " is a pass late");
      tables = good;
      if (r + 1 < good.repeated[n].rows()) {
        auto& rows = tables.repeated[n].loops.front();
        std::swap(rows[r], rows[r + 1]);
        compare(tables, place + " comes after the next one");
        tables = good;
      }
      RepeatedRow& row = tables.repeated[n].loops.front()[r];
      --row.count;
      row.last_size = row.first.size;
      compare(tables, place + " stops a pass early");
      tables = good;
      RepeatedRow& late = tables.repeated[n].loops.front()[r];
      late.first_pass += late.count + 8;
      compare(tables, place + " begins when all others are over");
    }
  }
  CHECK(broken > (test::kSanitized ? 5 : 20));
}
