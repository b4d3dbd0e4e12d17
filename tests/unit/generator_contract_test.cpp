// What every generator owes, on every network that it says it runs on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/generators/rank_shapes.h"
#include "alg/schedule/schedule_table.h"
#include "schedule_oracle.h"
#include "table_interpreter.h"
#include "test_networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

std::string text_of(const Certificate& certificate) {
  std::string text;
  for (const Violation& violation : certificate.violations) {
    text += fmt::format("{}: {}\n", to_string(violation.kind), violation.what);
  }
  return text;
}

// With every node's own tables, and every root's own transfers, where one stands for all.
Schedule written_out(const Topology& topology, Schedule schedule) {
  if (!schedule.symmetry) return schedule;
  const ScheduleTables shared = lower_to_tables(schedule);
  CHECK(shared.nodes.size() == 1);
  const ScheduleTables tables = expand_symmetry(topology, shared);
  const Certificate certificate = certify(topology, shared);
  const Certificate of_all = certify(topology, tables);
  INFO(text_of(certificate));
  CHECK(certificate.ok());
  CHECK(certificate.transfers == of_all.transfers);
  CHECK(certificate.contention_free == of_all.contention_free);
  CHECK(certificate.most_table_entries == of_all.most_table_entries);
  CHECK(certificate.most_children == of_all.most_children);
  return raise_from_tables(topology, tables);
}

void check_request(const Generator& generator, const Topology& topology,
                   const CollectiveRequest& request, std::uint32_t seed) {
  CAPTURE(topology.name(), to_string(request.op), request.size, request.element_bytes,
          request.segments, seed);
  const Schedule schedule = written_out(topology, generator.generate(topology, request));
  CHECK(schedule.algorithm == generator.name);
  CHECK(schedule.op == request.op);
  CHECK(schedule.size == request.size);
  test::require_well_formed(topology, schedule);
  test::require_fits_tables(schedule);
  const ScheduleTables tables = lower_to_tables(schedule);
  const Certificate certificate = certify(topology, tables);
  INFO(text_of(certificate));
  CHECK(certificate.ok());
  CHECK(certificate.transfers == schedule.transfers.size());
  CHECK(certificate.contention_free == schedule.contention_free);
  CHECK(test::TableInterpreter(tables, seed).run() == test::RunOutcome::right);
}

void check_generator(const std::string& name) {
  const Generator& generator = *find_generator(name);
  std::uint32_t seed = 1;
  std::size_t networks = 0;
  test::ShareOfCases share(6);
  for (const Topology& topology : test::small_networks()) {
    if (!generator.unsuited(topology).empty() || !share.take()) continue;
    ++networks;
    const Bytes nodes = topology.num_nodes();
    for (const CollectiveOp op : generator.ops) {
      CollectiveRequest request;
      request.op = op;
      request.base = smallest_bcube_base(nodes);
      for (const Bytes elements : {Bytes{1}, nodes - 1, 2 * nodes, 7 * nodes + 3}) {
        request.size = 4 * elements;
        check_request(generator, topology, request, ++seed);
      }
      request.element_bytes = 3;
      request.size = 3 * (5 * nodes + 1);
      request.segments = 3;
      check_request(generator, topology, request, ++seed);
    }
  }
  CHECK(networks > 0);
}

}  // namespace

// One case per generator, so that they can run side by side.
TEST_CASE("ring keeps the contract of generators") { check_generator("ring"); }
TEST_CASE("bidirectional_ring keeps the contract of generators") {
  check_generator("bidirectional_ring");
}
TEST_CASE("2d_ring keeps the contract of generators") { check_generator("2d_ring"); }
TEST_CASE("multitree keeps the contract of generators") { check_generator("multitree"); }
TEST_CASE("multitree_translated keeps the contract of generators") {
  check_generator("multitree_translated");
}
TEST_CASE("direct keeps the contract of generators") { check_generator("direct"); }
TEST_CASE("halving_doubling keeps the contract of generators") {
  check_generator("halving_doubling");
}
TEST_CASE("bcube keeps the contract of generators") { check_generator("bcube"); }
TEST_CASE("hdrm keeps the contract of generators") { check_generator("hdrm"); }
TEST_CASE("dbtree keeps the contract of generators") { check_generator("dbtree"); }
TEST_CASE("forest keeps the contract of generators") { check_generator("forest"); }
TEST_CASE("a2a_paths keeps the contract of generators") { check_generator("a2a_paths"); }
TEST_CASE("auto keeps the contract of generators") { check_generator("auto"); }

TEST_CASE("The contract is tested of every generator") {
  std::vector<std::string> names;
  for (const Generator& generator : generators()) names.push_back(generator.name);
  CHECK(names == std::vector<std::string>{"ring", "bidirectional_ring", "2d_ring", "multitree",
                                          "multitree_translated", "direct", "halving_doubling",
                                          "hdrm", "bcube", "dbtree", "forest", "a2a_paths",
                                          "auto"});
}

TEST_CASE("All but 2D-RING, translated trees and HDRM run on every network with links both ways") {
  for (const Topology& topology : test::small_networks()) {
    for (const Generator& generator : generators()) {
      CAPTURE(topology.name(), generator.name);
      const bool anywhere = generator.name != "2d_ring" &&
                            generator.name != "multitree_translated" && generator.name != "hdrm";
      if (anywhere) CHECK(generator.unsuited(topology) == "");
    }
  }
}

TEST_CASE("The table in docs/algorithms.md lists every generator with its operations") {
  std::ifstream page(ESPALIER_SOURCE_DIR "/docs/algorithms.md");
  REQUIRE(page.good());
  std::vector<std::string> documented;
  for (std::string line; std::getline(page, line) && line.rfind("## ", 0) != 0;) {
    if (line.rfind("| `", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    REQUIRE(cells.size() >= 5);
    documented.push_back(cells[1] + ":" + cells[4]);
  }
  const auto abbreviation = [](CollectiveOp op) {
    switch (op) {
      case CollectiveOp::reduce_scatter:
        return "RS";
      case CollectiveOp::all_gather:
        return "AG";
      case CollectiveOp::all_reduce:
        return "AR";
      default:
        return "A2A";
    }
  };
  std::vector<std::string> registered;
  for (const Generator& generator : generators()) {
    std::vector<std::string> ops;
    for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
                                  CollectiveOp::all_reduce, CollectiveOp::all_to_all}) {
      if (generator.computes(op)) ops.emplace_back(abbreviation(op));
    }
    registered.push_back(fmt::format(" `{}` : {} ", generator.name, fmt::join(ops, ", ")));
  }
  CHECK(documented == registered);
}
