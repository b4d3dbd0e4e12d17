// Schedule consistency (Themis, section 4.6): NPUs that choose for themselves may choose
// differently and wait for each other for ever; with one order for all they cannot.
#include <catch2/catch.hpp>

#include "plan_systems.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::plan_point_of;
using test::ring;
using test::switched;

constexpr Fidelity kFidelities[] = {Fidelity::cycle, Fidelity::train};

// Like configs/themis/late_node.yaml: one chunk at a time in each dimension.
RunPoint late_point(bool enforce_order, std::uint32_t late_node, Cycle late_cycles) {
  RunPoint point = plan_point_of({ring(4), switched(4, 1, 32)}, 64 * 1024, 8);
  point.system.ni.dimension_queue.in_flight = 1;
  point.system.ni.dimension_queue.enforce_order = enforce_order;
  if (late_cycles != 0) point.faults.late_nis = {{late_node, late_cycles}};
  return point;
}

test::PlanRun run(const RunPoint& point, Fidelity fidelity) {
  const Topology topology = build_topology(point.system);
  return test::run_plan_point(topology, point, plan_point(topology, point).plan, fidelity,
                              Folding::off);
}

TEST_CASE(
    "Without an enforced order a late NPU causes a deadlock, whose report names NPUs and chunks") {
  for (const Fidelity fidelity : kFidelities) {
    const test::PlanRun stuck = run(late_point(false, 5, 2000), fidelity);
    INFO(stuck.failure);
    CHECK_FALSE(stuck.verified);
    CHECK_THAT(stuck.failure, Contains("no progress at cycle"));
    CHECK_THAT(stuck.failure, Contains("these modules wait for each other"));
    // Two chunks have the same dimension's only place at two NPUs that wait for each other.
    CHECK_THAT(stuck.failure, Contains("already has 1 stage in flight"));
    CHECK_THAT(stuck.failure, Contains("waits for step"));
    CHECK_THAT(stuck.failure, Contains("net.ni_") && Contains(".chunk"));
    CHECK_THAT(stuck.failure, !Contains("credits"));
  }
}

TEST_CASE("A deadlock of NPUs is reported at its cycle, not when the watchdog expires") {
  RunPoint point = late_point(false, 5, 2000);
  point.simulation.watchdog_cycles = 100'000'000;
  CHECK_THAT(run(point, Fidelity::cycle).failure, Contains("these modules wait for each other"));
  CHECK_THAT(run(point, Fidelity::train).failure, Contains("these modules wait for each other"));
}

TEST_CASE("With an enforced order a late NPU only delays the collective") {
  test::ShareOfCases share(5);
  for (const Fidelity fidelity : kFidelities) {
    const test::PlanRun punctual = run(late_point(true, 0, 0), fidelity);
    CHECK(punctual.verified);
    for (const std::uint32_t node : {0U, 5U, 15U}) {
      for (const Cycle late : {Cycle{100}, Cycle{2000}, Cycle{20'000}}) {
        if (!share.take()) continue;
        CAPTURE(node, late);
        const test::PlanRun delayed = run(late_point(true, node, late), fidelity);
        CHECK(delayed.failure == "");
        CHECK(delayed.verified);
        CHECK(delayed.cycles >= punctual.cycles);
        // Messages that used to pass each other may meet now.
        CHECK(delayed.cycles <= punctual.cycles + late + late / 2);
        CHECK(delayed.bytes_sent == punctual.bytes_sent);
      }
    }
  }
}

TEST_CASE("NPUs without delays finish without an enforced order") {
  const test::PlanRun punctual = run(late_point(false, 0, 0), Fidelity::cycle);
  CHECK(punctual.failure == "");
  CHECK(punctual.verified);
}

TEST_CASE("Without an enforced order NPUs with nothing to send can cause a deadlock") {
  // 17 elements on 12 NPUs in three chunks.
  RunPoint point = plan_point_of({ring(3), switched(4)}, 4 * 17, 3);
  point.system.ni.dimension_queue.in_flight = 1;
  point.system.ni.dimension_queue.order = QueueOrder::fifo;
  point.collective->parts = PartSizes::exact;
  CHECK(run(point, Fidelity::cycle).verified);
  point.system.ni.dimension_queue.enforce_order = false;
  CHECK_THAT(run(point, Fidelity::cycle).failure, Contains("these modules wait for each other"));
}

TEST_CASE("Schedule tables wait for a late NPU and compute the same") {
  const Topology torus = make_torus({4, 4}, test::link_of(20));
  for (const char* algorithm : {"multitree", "ring"}) {
    for (const Fidelity fidelity : kFidelities) {
      CAPTURE(algorithm);
      RunPoint point;
      point.collective.emplace();
      point.simulation.fidelity = fidelity;
      const ScheduleTables tables = test::tables_for(algorithm, torus, 32 * 1024);
      const auto simulate = [&] { return simulate_collective(torus, point, tables, {}); };
      const auto punctual = test::outcome_of(simulate);
      point.faults.late_nis = {{6, 3000}};
      const auto late = test::outcome_of(simulate);
      CHECK(punctual.verified);
      CHECK(late.failure == "");
      CHECK(late.verified);
      CHECK(late.cycles > punctual.cycles);
      CHECK(late.cycles <= punctual.cycles + 3000);
    }
  }
}

}  // namespace
}  // namespace espalier
