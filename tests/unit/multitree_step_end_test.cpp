// When MULTITREE's construction ends a timestep: Algorithm 1, and the authors' program.
#include <catch2/catch.hpp>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/generators/multitree.h"
#include "alg/schedule/schedule_table.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

CollectiveRequest request_with(StepEnd end) {
  CollectiveRequest request;
  request.size = 65536;
  request.step_end = end;
  return request;
}

// The least is ceil((N - 1) / links of a node with the fewest).
TEST_CASE("Trees try lines before rings and long dimensions first, which needs few steps") {
  const auto steps_on = [](const KeyValues& grid) {
    return build_trees(make_network(network_spec("grid", grid), test::kPlainLink), {}).num_steps;
  };
  CHECK(steps_on({{"dims", {5, 4}}, {"wrap", {0, 0}}}) == 10);  // the least; 12 with Y first
  CHECK(steps_on({{"dims", {4, 5}}, {"wrap", {0, 0}}}) == 10);
  CHECK(steps_on({{"dims", {8, 4}}, {"wrap", {0, 0}}}) == 16);  // the least; 20 with Y first
  CHECK(steps_on({{"dims", {9, 3}}, {"wrap", {0, 1}}}) == 10);  // 17 with Y first
  CHECK(steps_on({{"dims", {3, 9}}, {"wrap", {1, 0}}}) == 10);
  CHECK(steps_on({{"dims", {7, 5}}, {"wrap", {1, 1}}}) == 9);  // the least; 10 with Y first
}

TEST_CASE("The authors' trees need more timesteps on meshes and as many on tori") {
  struct Row {
    Topology topology;
    Timestep paper;
    Timestep authors;
  };
  const Row rows[] = {{make_torus({4, 4}, test::kPlainLink), 5, 5},
                      {make_torus({8, 8}, test::kPlainLink), 17, 17},
                      {make_mesh({4, 4}, test::kPlainLink), 8, 10},
                      {make_mesh({8, 8}, test::kPlainLink), 32, 34}};
  for (const Row& row : rows) {
    CAPTURE(row.topology.name());
    CHECK(build_trees(row.topology, request_with(StepEnd::paper)).num_steps == row.paper);
    CHECK(build_trees(row.topology, request_with(StepEnd::authors)).num_steps == row.authors);
  }
}

TEST_CASE("Schedules of the authors' trees pass the certifier on every small network") {
  for (const Topology& topology :
       {make_torus({3, 2}, test::kPlainLink), make_mesh({3, 4}, test::kPlainLink),
        make_torus({2, 2, 2}, test::kPlainLink), make_mesh({5}, test::kPlainLink)}) {
    CAPTURE(topology.name());
    const Schedule schedule =
        find_generator("multitree")->generate(topology, request_with(StepEnd::authors));
    CHECK(schedule.contention_free);
    CHECK(certify(topology, lower_to_tables(schedule)).ok());
  }
}

}  // namespace
}  // namespace espalier
