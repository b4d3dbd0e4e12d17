// Several process groups at the same time: every group's data are compared at the end, both
// fidelities take the same time, and plans made together come close to the bound of all groups.
#include <catch2/catch.hpp>

#include "alg/bounds/bounds.h"
#include "model_test_support.h"
#include "sims/choose/certify_point.h"
#include "sims/choose/choose.h"
#include "sims/model/build_program.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

constexpr LinkSpec kGroupLink{150'000, 16'000'000'000};
using Ranks = std::vector<std::vector<std::uint32_t>>;

RunPoint groups_point(CollectiveOp op, const std::string& algorithm, Bytes size,
                      const Ranks& groups, bool relay) {
  RunPoint point;
  point.collective.emplace();
  point.collective->op = op;
  point.collective->algorithm = algorithm;
  point.collective->size = size;
  point.collective->relay = relay;
  for (const auto& ranks : groups) point.collective->groups.push_back({ranks, 0});
  return point;
}

double seconds_of_groups(const Topology& topology, RunPoint point, const ScheduleTables& tables,
                         Fidelity fidelity) {
  point.simulation.fidelity = fidelity;
  const SimulationOutcome outcome =
      test::outcome_of([&] { return simulate_collective(topology, point, tables, {}); });
  INFO(outcome.failure);
  REQUIRE(outcome.verified);
  return static_cast<double>(outcome.cycles) * 1e-9;
}

ScheduleTables certified_tables(const Topology& topology, const RunPoint& point) {
  ScheduleTables tables = generate_tables(topology, point.system, *point.collective);
  const Certificate certificate = certify_point(topology, point, tables);
  for (const Violation& violation : certificate.violations) UNSCOPED_INFO(violation.what);
  REQUIRE(certificate.ok());
  return tables;
}

// The bound as a share of the simulated time.
double groups_share(const Topology& topology, const RunPoint& point) {
  const ScheduleTables tables = certified_tables(topology, point);
  std::vector<Bytes> parts;
  for (const RankGroup& group : tables.scope.groups) {
    parts.push_back(group.size / group.members.size() / 4 * 4);
  }
  return groups_bound(topology, tables.op, tables.scope, parts).seconds /
         seconds_of_groups(topology, point, tables, Fidelity::train);
}

const Ranks kRowsAndColumns{{0, 1, 2, 3},  {4, 5, 6, 7},  {8, 9, 10, 11}, {12, 13, 14, 15},
                            {0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}};

}  // namespace

TEST_CASE("Both fidelities run several groups in the same time") {
  const Ranks crossing{{4, 0, 5, 7}, {1, 5}, {8, 2, 3}};
  test::ShareOfCases share(7);
  for (const Topology& topology :
       {make_mesh({3, 3}, kGroupLink), make_single_switch(9, kGroupLink)}) {
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                  CollectiveOp::all_gather, CollectiveOp::all_to_all}) {
      for (const char* algorithm : {"forest", "a2a_paths", "ring", "direct", "auto"}) {
        const bool plans = find_generator(algorithm)->plans_groups;
        RunPoint point = groups_point(op, algorithm, 6000, crossing, plans);
        point.collective->groups[1].size = 20000;
        if (!find_generator(algorithm)->computes(op) || !share.take()) continue;
        CAPTURE(topology.name(), algorithm, to_string(op));
        const ScheduleTables tables = certified_tables(topology, point);
        CHECK(tables.size == 32000);
        CHECK(seconds_of_groups(topology, point, tables, Fidelity::train) ==
              seconds_of_groups(topology, point, tables, Fidelity::cycle));
      }
    }
  }
}

TEST_CASE("auto takes no program for several groups, which programs do not know") {
  const Topology mesh = make_mesh({3, 3}, kGroupLink);
  const RunPoint point = groups_point(CollectiveOp::all_reduce, "auto", 60004,
                                      {{4, 0, 5, 7}, {1, 5}, {8, 2, 3}}, true);
  CHECK(generate_collective(mesh, point).tables.has_value());
}

TEST_CASE("Groups planned together come close to the bound of all of them", "[performance]") {
  const Topology torus = make_torus({4, 4}, kGroupLink);
  for (const CollectiveOp op :
       {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
    CAPTURE(to_string(op));
    const RunPoint rows = groups_point(op, "forest", 4 << 20, kRowsAndColumns, false);
    CHECK(groups_share(torus, rows) >= 0.97);
    const RunPoint strided =
        groups_point(op, "forest", 4 << 20, {{0, 2, 8, 10}, {1, 3, 9, 11}, {5, 15}}, true);
    CHECK(groups_share(torus, strided) >= (op == CollectiveOp::all_reduce ? 0.7 : 0.84));
  }
  const RunPoint exchange =
      groups_point(CollectiveOp::all_to_all, "a2a_paths", 4 << 20, kRowsAndColumns, false);
  CHECK(groups_share(torus, exchange) >= 0.97);
}

TEST_CASE("Two quads of eight connected nodes are joined faster with the other quad's links") {
  const Topology full = make_fully_connected(8, kGroupLink);
  const Ranks quads{{0, 1, 2, 3}, {4, 5, 6, 7}};
  const auto seconds = [&](bool relay) {
    const RunPoint point = groups_point(CollectiveOp::all_gather, "forest", 4 << 20, quads, relay);
    return seconds_of_groups(full, point, certified_tables(full, point), Fidelity::train);
  };
  CHECK(seconds(true) < 0.6 * seconds(false));
}
