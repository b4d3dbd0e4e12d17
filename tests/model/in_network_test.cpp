// Switches that add and copy for the NPUs of their group (Themis, section 4.5), simulated.
#include <catch2/catch.hpp>

#include <cmath>

#include "alg/bounds/bounds.h"
#include "model_test_support.h"
#include "sims/choose/choose.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_topology.h"
#include "sims/system/plan_simulation.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using Algorithms = std::vector<DimensionAlgorithm>;

constexpr auto kOffload = DimensionAlgorithm::in_network;
constexpr auto kForward = DimensionAlgorithm::halving_doubling;
constexpr auto kRing = DimensionAlgorithm::ring;
constexpr CollectiveOp kInNetworkOps[] = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                          CollectiveOp::all_gather};

// Of `links` links of 16 bytes per cycle each, 200 cycles from NPU to NPU.
RunPoint point_of(const std::vector<std::uint32_t>& sizes, const Algorithms& algorithms,
                  std::uint32_t links, Bytes size, CollectiveOp op, const std::string& scheduler) {
  RunPoint point;
  point.system.topology.type = "dimensions";
  DimensionsConfig& config = point.system.dimensions;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    config.shape.push_back(algorithms[d] == kRing ? DimensionShape::ring
                                                  : DimensionShape::switched);
    config.size.push_back(sizes[d]);
    config.links.push_back(links);
    config.bytes_per_second.push_back(16'000'000'000);
    config.latency_ps.push_back(200'000);
    config.algorithm.emplace_back(algorithms[d]);
  }
  CollectiveConfig& collective = point.collective.emplace();
  collective.algorithm = scheduler;
  collective.op = op;
  collective.size = size;
  collective.chunks = 4;
  point.simulation.watchdog_cycles = 5000;
  return point;
}

struct Run {
  DimensionPlan plan;
  bool verified = false;
  bool folded = false;
  Cycle cycles = 0;
  std::vector<Bytes> bytes_sent;
  double bound_cycles = 0;
  std::string failure;
};

Run run(RunPoint point, Fidelity fidelity, Folding fold) {
  point.simulation.fidelity = fidelity;
  point.simulation.fold = fold;
  point.simulation.monitors = fidelity == Fidelity::cycle;
  const Topology topology = make_dimensions(dimension_specs(point.system));
  Run run;
  run.plan = plan_point(topology, point).plan;
  run.bound_cycles = dimension_bound(topology, run.plan).seconds * 1e9;
  const test::Report report = test::in_child([&] {
    const PlanOutcome outcome = simulate_plan(topology, point, run.plan, {});
    test::Report result{outcome.bytes_sent, outcome.simulation.failure};
    result.numbers.push_back(outcome.simulation.verified ? 1U : 0U);
    result.numbers.push_back(outcome.folded ? 1U : 0U);
    result.numbers.push_back(outcome.simulation.cycles);
    return result;
  });
  const std::size_t dimensions = point.system.dimensions.size.size();
  run.bytes_sent.assign(report.numbers.begin(),
                        report.numbers.begin() + static_cast<std::ptrdiff_t>(dimensions));
  run.verified = report.numbers[dimensions] != 0;
  run.folded = report.numbers[dimensions + 1] != 0;
  run.cycles = report.numbers[dimensions + 2];
  run.failure = report.text;
  return run;
}

Cycle cycles_of(const RunPoint& point) {
  const Run result = run(point, Fidelity::train, Folding::automatic);
  CAPTURE(result.failure);
  CHECK(result.verified);
  return result.cycles;
}

TEST_CASE(
    "A switch that adds and copies gives right data, and the same cycles in both fidelities") {
  struct System {
    std::vector<std::uint32_t> sizes;
    Algorithms algorithms;
    std::uint32_t links;
  };
  const std::vector<System> systems = {{{4, 4}, {kOffload, kRing}, 2},
                                       {{8}, {kOffload}, 1},
                                       {{5}, {kOffload}, 3},
                                       {{4, 2}, {kOffload, kOffload}, 2},
                                       {{4, 2}, {kForward, kOffload}, 1}};
  test::ShareOfCases share(11);
  for (const System& system : systems) {
    std::uint64_t nodes = 1;
    for (const std::uint32_t size : system.sizes) nodes *= size;
    for (const CollectiveOp op : kInNetworkOps) {
      for (const char* scheduler : {"baseline", "themis"}) {
        if (!share.take()) continue;
        // Parts of 64 elements and twice as many as nodes, for a ring's two directions.
        const RunPoint point = point_of(system.sizes, system.algorithms, system.links,
                                        4 * nodes * 2 * 256, op, scheduler);
        const Run exact = run(point, Fidelity::cycle, Folding::off);
        CAPTURE(system.sizes, to_string(op), scheduler, exact.failure);
        CHECK(exact.verified);
        CHECK(static_cast<double>(exact.cycles) >= exact.bound_cycles);
        for (std::uint32_t d = 0; d < system.sizes.size(); ++d) {
          CHECK(exact.bytes_sent[d] ==
                nodes * static_cast<Bytes>(std::llround(bytes_sent_on(exact.plan, d))));
        }
        for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
          for (const Folding fold : {Folding::off, Folding::on}) {
            const Run other = run(point, fidelity, fold);
            CHECK(other.verified);
            CHECK(other.folded == (fold == Folding::on));
            CHECK(other.cycles == exact.cycles);
            CHECK(other.bytes_sent == exact.bytes_sent);
          }
        }
      }
    }
  }
}

TEST_CASE("A switch that adds handles parts of different sizes and empty parts") {
  for (const CollectiveOp op : kInNetworkOps) {
    for (const Bytes size : {Bytes{1000}, Bytes{44}}) {
      RunPoint point = point_of({3, 5}, {kOffload, kOffload}, 2, size, op, "themis");
      point.collective->parts = PartSizes::exact;
      const Run flits = run(point, Fidelity::cycle, Folding::off);
      const Run trains = run(point, Fidelity::train, Folding::off);
      CAPTURE(to_string(op), size, flits.failure, trains.failure);
      CHECK(flits.verified);
      CHECK(trains.verified);
      CHECK(flits.cycles == trains.cycles);
    }
  }
}

TEST_CASE("An NPU sends its part of an all_gather once, not to every other NPU") {
  constexpr Bytes kBytes = 64 * 1024;
  const auto bytes = [](DimensionAlgorithm algorithm) {
    return run(point_of({8}, {algorithm}, 1, kBytes, CollectiveOp::all_gather, "baseline"),
               Fidelity::train, Folding::off)
        .bytes_sent.front();
  };
  CHECK(bytes(kForward) == kBytes * 7);
  CHECK(bytes(kOffload) == kBytes);
}

TEST_CASE("A short all_reduce takes one step to the switch and back instead of log2 P") {
  const auto cycles = [](DimensionAlgorithm algorithm) {
    return cycles_of(point_of({8}, {algorithm}, 1, 1024, CollectiveOp::all_reduce, "baseline"));
  };
  const Cycle offload = cycles(kOffload);
  // Twice 200 cycles of latency, not six times; the rest is work in the switch and serialization.
  CHECK(offload > 2 * 200);
  CHECK(offload < 3 * 200);
  CHECK(cycles(kForward) > 6 * 200);
}

TEST_CASE("By default, chunks of a large all_reduce load both directions of a switch that adds") {
  const auto cycles = [](DimensionAlgorithm algorithm) {
    RunPoint point =
        point_of({8}, {algorithm}, 1, 4 * 1024 * 1024, CollectiveOp::all_reduce, "baseline");
    point.collective->chunks = 64;  // many more than are in flight
    return static_cast<double>(cycles_of(point));
  };
  // Each NPU sends the data twice less its own part without, and once with such a switch.
  CHECK(cycles(kForward) > 1.5 * cycles(kOffload));
}

TEST_CASE("Many blocks in a full queue to one switch hold up no other dimension") {
  // 31 contributions of each stage, more than an injection port's queue takes.
  RunPoint point = point_of({32, 2}, {kOffload, kOffload}, 1, 8 * 1024 * 1024,
                            CollectiveOp::all_reduce, "themis");
  point.collective->chunks = 16;
  const Topology topology = make_dimensions(dimension_specs(point.system));
  const auto forecast = static_cast<double>(plan_point(topology, point).forecast);
  CHECK(static_cast<double>(cycles_of(point)) == Approx(forecast).epsilon(0.02));
}

}  // namespace
}  // namespace espalier
