// What auto takes among schedules and programs, and how near the planned times of programs are.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "alg/algorithm.h"
#include "alg/program/program_time.h"
#include "model_test_support.h"
#include "sims/choose/candidate.h"
#include "sims/choose/choose.h"
#include "sims/choose/collective_work.h"
#include "sims/model/build_program.h"
#include "sims/model/build_topology.h"
#include "sims/system/program_simulation.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

RunPoint auto_point(const char* kind, const std::vector<std::uint32_t>& dims, Bytes size) {
  RunPoint point;
  point.system.topology.type = kind;
  point.system.topology.set("dims", {dims.begin(), dims.end()});
  point.system.flow_control.mode = FlowControlMode::message;
  point.system.router.vc_depth_flits = 318;
  point.collective.emplace();
  point.collective->algorithm = kAutoAlgorithm;
  point.collective->size = size;
  return point;
}

Cycle work_cycles(const Topology& topology, const RunPoint& point, const CollectiveWork& work) {
  const SimulationOutcome outcome = test::outcome_of([&] {
    return work.program ? simulate_program(topology, point, *work.program, 0, {})
                        : simulate_collective(topology, point, *work.tables, {});
  });
  CHECK(outcome.verified);
  return outcome.cycles;
}

// Empty if it takes a schedule.
std::string program_taken(const RunPoint& point) {
  const CollectiveWork work = generate_collective(build_topology(point.system), point);
  return work.program ? work.program->name : "";
}

TEST_CASE("auto takes window on an 8x8 torus at 1 KiB, and says what it was compared with",
          "[performance]") {
  const RunPoint point = auto_point("torus", {8, 8}, 1 << 10);
  const Topology torus = build_topology(point.system);
  const CollectiveWork work = generate_collective(torus, point);
  REQUIRE(work.program);
  CHECK_FALSE(work.tables);
  CHECK(work.built_in == find_builtin_program("window"));
  REQUIRE(work.certificate);
  CHECK(work.certificate->ok());
  for (const char* part :
       {"window, ", "next is swing_latency, ", "the best schedule is direct, "}) {
    CHECK_THAT(work.choice, Catch::Matchers::Contains(part));
  }
  CHECK(work_cycles(torus, point, work) < 1400);
}

TEST_CASE("auto takes line on a small mesh, and the schedule where data are large") {
  CHECK(program_taken(auto_point("mesh", {4, 4}, 4 << 10)) == "line");
  const RunPoint large = auto_point("mesh", {4, 4}, 256 << 10);
  const Topology mesh = build_topology(large.system);
  Choices choices;
  const CollectiveWork work = generate_collective(mesh, large, choices);
  REQUIRE(work.tables);
  CHECK(work.tables->taken == "forest");
  // Every program is planned to be much slower, so none is simulated.
  CHECK(choices.simulating_seconds() == 0);
  const ScheduleTables alone = generate_tables(mesh, large.system, *large.collective);
  CHECK(work.tables->choice == alone.choice);
}

TEST_CASE("A simulation that chooses ends after a number of evaluations, and has no time") {
  RunPoint point = auto_point("mesh", {4, 4}, 4 << 20);
  point.collective->algorithm = "ring";
  const Topology mesh = build_topology(point.system);
  const ScheduleTables tables = generate_tables(mesh, point.system, *point.collective);
  SimulationHooks hooks;
  hooks.most_evaluations = 1000;
  const SimulationOutcome outcome =
      test::outcome_of([&] { return simulate_collective(mesh, point, tables, hooks); });
  CHECK_FALSE(outcome.complete);
  CHECK(outcome.evaluations > 1000);
  CHECK(outcome.failure == "its budget of evaluations is spent");
}

TEST_CASE("What is too large to simulate must win even if its plan is as wrong as it may be") {
  Candidate large;
  large.planned_us = 100;
  large.error = kContendedPlan;
  Candidate finished;
  finished.planned_us = finished.simulated_us.emplace(150);
  CHECK(is_faster(large, finished));
  large.is_large = true;
  CHECK(is_faster(finished, large));
  finished.simulated_us = 250;
  CHECK(is_faster(large, finished));
}

TEST_CASE("What auto takes among schedules and programs is within 1 % of the fastest",
          "[performance]") {
  for (const char* kind : {"torus", "mesh"}) {
    for (const Bytes kib : {Bytes{1}, Bytes{8}, Bytes{16}}) {
      RunPoint point = auto_point(kind, {4, 4}, kib << 10);
      const Topology topology = build_topology(point.system);
      const CollectiveWork taken = generate_collective(topology, point);
      const Cycle cycles = work_cycles(topology, point, taken);
      for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.generator == nullptr && algorithm.program == nullptr) continue;
        point.collective->algorithm = algorithm.name;
        if (!algorithm.row_on(false).computes(CollectiveOp::all_reduce)) continue;
        if (!algorithm.unsuited(topology).empty()) continue;
        if (algorithm.program != nullptr &&
            !algorithm.program->unsuited(builtin_request(topology, point)).empty()) {
          continue;
        }
        CAPTURE(topology.name(), kib, algorithm.name);
        const CollectiveWork other = generate_collective(topology, point);
        CHECK(static_cast<double>(cycles) <=
              1.01 * static_cast<double>(work_cycles(topology, point, other)));
      }
    }
  }
}

TEST_CASE("Where routers delay a schedule, auto simulates it in other numbers of segments") {
  RunPoint point = auto_point("torus", {4, 4}, 64 << 10);
  const Topology torus = build_topology(point.system);
  const CollectiveWork taken = generate_collective(torus, point);
  REQUIRE(taken.tables);
  const Cycle cycles = work_cycles(torus, point, taken);
  point.collective->algorithm = "multitree_translated";
  for (const std::uint32_t segments : {2U, 4U, 8U}) {
    point.collective->segments = segments;
    CHECK(cycles <= work_cycles(torus, point, generate_collective(torus, point)));
  }
}

TEST_CASE("Where slow outputs hold crossbar inputs, auto simulates other numbers of pieces") {
  Topology tree("leaves of two nodes, a fast and a slow spine");
  for (int n = 0; n < 8; ++n) tree.add_node(fmt::format("n{}", n));
  for (const char* name : {"l0", "l1", "l2", "l3", "fast", "slow"}) tree.add_switch(name);
  const auto cable = [&](std::size_t a, std::size_t b, std::uint64_t rate) {
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      const std::string name = fmt::format("c{}", tree.num_links());
      tree.add_link(NodeId(from), NodeId(to), {100'000, rate * 1'000'000'000}, name, name);
    }
  };
  for (std::size_t n = 0; n < 8; ++n) cable(n, 8 + n / 2, 8);
  for (std::size_t leaf = 8; leaf < 12; ++leaf) {
    cable(leaf, 12, 16);
    cable(leaf, 13, 4);
  }
  RunPoint point = auto_point("torus", {4, 4}, 1 << 20);
  point.collective->op = CollectiveOp::all_to_all;
  const Cycle cycles = work_cycles(tree, point, generate_collective(tree, point));
  point.collective->algorithm = "a2a_paths";
  // By the plan of a2a_paths another number is the best one.
  CHECK(cycles < work_cycles(tree, point, generate_collective(tree, point)));
  test::ShareOfCases share(3);
  for (const std::uint32_t pieces : {1U, 4U, 16U, 32U}) {
    if (!share.take()) continue;
    point.collective->segments = pieces;
    CHECK(cycles <= work_cycles(tree, point, generate_collective(tree, point)));
  }
}

TEST_CASE("auto takes no program that adds in several orders where bits must be identical") {
  RunPoint point = auto_point("torus", {4, 4}, 1 << 10);
  CHECK(program_taken(point) == "window");
  point.collective->bitwise_identical = true;
  CHECK(program_taken(point) == "swing_latency");
  RunPoint mesh = auto_point("mesh", {4, 4}, 16 << 10);
  CHECK(program_taken(mesh) == "line");
  mesh.collective->bitwise_identical = true;
  CHECK(program_taken(mesh) == "");
}

TEST_CASE("auto takes no program for a process group, an order of ranks, or skewed timesteps") {
  const RunPoint point = auto_point("torus", {4, 4}, 1 << 10);
  RunPoint changed = point;
  changed.collective->ranks = {0, 1, 2, 3};
  CHECK(program_taken(changed) == "");
  changed = point;
  changed.collective->rank_order.source = "random";
  for (std::size_t n = 16; n-- > 0;) changed.collective->rank_order.nodes.emplace_back(n);
  CHECK(program_taken(changed) == "");
  changed = point;
  changed.faults.clock_skew.push_back({0, 0, 1});
  CHECK(program_taken(changed) == "");
  changed.faults.clock_skew.front() = {0, 7, 0};
  CHECK(program_taken(changed) == "window");
}

TEST_CASE("A program that the NIs have no contexts for is no candidate, and nothing else changes") {
  RunPoint point = auto_point("torus", {4, 4}, 1 << 10);
  const Topology torus = build_topology(point.system);
  point.system.ni.program.contexts = 1;
  const CollectiveWork work = generate_collective(torus, point);
  REQUIRE(work.tables);
  CHECK(work.tables->choice == generate_tables(torus, point.system, *point.collective).choice);
}

TEST_CASE("A remembered choice of a program is used again") {
  const RunPoint point = auto_point("torus", {4, 4}, 1 << 10);
  const Topology torus = build_topology(point.system);
  Choices choices;
  const CollectiveWork first = generate_collective(torus, point, choices);
  const double simulating = choices.simulating_seconds();
  CHECK(simulating > 0);
  const CollectiveWork again = generate_collective(torus, point, choices);
  CHECK(choices.simulating_seconds() == simulating);
  REQUIRE(again.program);
  CHECK(again.program->name == "window");
  CHECK(again.choice == first.choice);
  CHECK(work_cycles(torus, point, again) == work_cycles(torus, point, first));
  // Those who cannot run programs, such as trainings, ask another question.
  CHECK(generate_tables(torus, point.system, *point.collective, choices).taken != "window");
}

TEST_CASE("Programs are planned within 3 % of the machine's time, and within 10 % in full buffers",
          "[performance]") {
  for (const char* kind : {"torus", "mesh"}) {
    for (const Bytes size : {Bytes{1} << 10, Bytes{8} << 10, Bytes{32} << 10}) {
      RunPoint point = auto_point(kind, {4, 4}, size);
      const Topology topology = build_topology(point.system);
      const Topology& t = topology;
      for (const BuiltinProgram& row : builtin_programs()) {
        point.collective->algorithm = row.name;
        if (row.protocol != Protocol::message) continue;
        if (!row.unsuited(builtin_request(t, point)).empty()) continue;
        const CollectiveWork work = generate_collective(t, point);
        ContextTiming timing;
        timing.message = message_timing(point.system);
        const Tiling tiling = tiling_of(*work.program, point);
        const std::uint64_t ps = program_time_ps(t, *work.program, tiling, timing);
        const double ratio =
            static_cast<double>(ps) / 1000 / static_cast<double>(work_cycles(t, point, work));
        CAPTURE(t.name(), size, row.name);
        // Large messages fill routers' buffers.
        const bool is_small = size == Bytes{1} << 10;
        CHECK(ratio < (is_small ? 1.01 : 1.06));
        CHECK(ratio > (is_small ? 0.97 : 0.9));
        // Over the limit, the answer is over the limit, and the program does not beat it.
        CHECK(program_time_ps(t, *work.program, tiling, timing, ps) == ps);
        for (const std::uint64_t limit : {ps - 1, ps / 3}) {
          const std::uint64_t told = program_time_ps(t, *work.program, tiling, timing, limit);
          CHECK(told > limit);
          CHECK(told <= ps);
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier
