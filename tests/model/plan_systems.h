// Multi-dimensional systems for tests, and their plans simulated.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "model_test_support.h"
#include "sims/experiment/plan_run.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_topology.h"
#include "sims/model/idle_times.h"
#include "sims/system/plan_simulation.h"

namespace espalier::test {

struct Dimension {
  DimensionShape shape = DimensionShape::ring;
  std::uint32_t size = 2;
  std::uint32_t links = 0;                  // 0: the fewest
  std::uint64_t gigabytes_per_second = 16;  // bytes per cycle at 1 GHz
  std::uint32_t flit_bytes = 0;             // 0: as wide as a link carries in a cycle
  std::optional<DimensionAlgorithm> algorithm = std::nullopt;
};

inline Dimension ring(std::uint32_t size, std::uint32_t links = 0, std::uint64_t rate = 16) {
  return {DimensionShape::ring, size, links, rate};
}
inline Dimension direct(std::uint32_t size, std::uint32_t links = 0, std::uint64_t rate = 16) {
  return {DimensionShape::fully_connected, size, links, rate};
}
// Halving-doubling, or direct where the size is no power of two.
inline Dimension switched(std::uint32_t size, std::uint32_t planes = 1, std::uint64_t rate = 16) {
  return {DimensionShape::switched, size, planes, rate};
}

inline void add_dimension(SystemConfig& system, const Dimension& dimension) {
  DimensionsConfig& config = system.dimensions;
  config.shape.push_back(dimension.shape);
  config.size.push_back(dimension.size);
  config.links.push_back(dimension.links);
  config.bytes_per_second.push_back(dimension.gigabytes_per_second * 1'000'000'000);
  config.flit_bytes.push_back(dimension.flit_bytes);
  config.vc_depth_flits.push_back(0);
  config.algorithm.push_back(dimension.algorithm);
  config.latency_ps.push_back(0);
}

// Links of `cycles` each, whatever NIs and routers take.
inline void set_link_latency(SystemConfig& system, Cycle cycles) {
  DimensionsConfig& config = system.dimensions;
  for (std::size_t d = 0; d < config.shape.size(); ++d) {
    std::uint32_t flit = config.flit_bytes[d];
    if (flit == 0) {
      flit = static_cast<std::uint32_t>(
          narrowest_flit_bytes(config.bytes_per_second[d], system.clock));
    }
    const Cycle whole =
        cycles * hops_in(config.shape[d]) +
        cycles_beside_links(system, config.shape[d], config.bytes_per_second[d], flit);
    config.latency_ps[d] = picoseconds_of(whole, system.clock);
  }
}

inline RunPoint plan_point_of(const std::vector<Dimension>& dimensions, Bytes size,
                              std::uint32_t chunks, const std::string& algorithm = "themis",
                              CollectiveOp op = CollectiveOp::all_reduce) {
  RunPoint point;
  point.system.topology.type = "dimensions";
  for (const Dimension& dimension : dimensions) add_dimension(point.system, dimension);
  set_link_latency(point.system, 20);
  CollectiveConfig& collective = point.collective.emplace();
  collective.algorithm = algorithm;
  collective.op = op;
  collective.size = size;
  collective.chunks = chunks;
  point.simulation.watchdog_cycles = 5000;
  return point;
}

// What a run came to. `reproducible` must not depend on how it was executed.
struct PlanRun {
  bool verified = false;
  bool folded = false;
  Cycle cycles = 0;
  std::vector<Bytes> bytes_sent;  // by dimension
  Counters counters;
  Numbers reproducible;  // all else
  std::string failure;
};

inline PlanRun run_plan_point(const Topology& topology, RunPoint point, const DimensionPlan& plan,
                              Fidelity fidelity, Folding fold) {
  point.simulation.fidelity = fidelity;
  point.simulation.fold = fold;
  point.simulation.monitors = fidelity == Fidelity::cycle;
  const Report report = in_child([&] {
    const PlanOutcome outcome = simulate_plan(topology, point, plan, {});
    Report result{reproducible(outcome.simulation), outcome.simulation.failure};
    Numbers& numbers = result.numbers;
    numbers.push_back(
        static_cast<std::uint64_t>(outcome.simulation.link_utilization_mean * 1e12 + 0.5));
    numbers.insert(numbers.begin(), outcome.folded ? 1U : 0U);
    numbers.insert(numbers.begin(), outcome.bytes_sent.begin(), outcome.bytes_sent.end());
    for (const StageSpan& span : outcome.stages) {
      for (const std::uint64_t n :
           {std::uint64_t{span.stage.chunk}, std::uint64_t{span.stage.stage}, span.ready,
            span.start, span.end}) {
        numbers.push_back(n);
      }
    }
    return result;
  });
  const std::size_t dimensions = plan.dimensions.size();
  PlanRun run;
  run.bytes_sent.assign(report.numbers.begin(),
                        report.numbers.begin() + static_cast<std::ptrdiff_t>(dimensions));
  run.folded = report.numbers[dimensions] != 0;
  run.verified = report.numbers[dimensions + 2] != 0;
  run.cycles = report.numbers[dimensions + 3];
  run.reproducible = report.numbers;
  run.reproducible[dimensions] = 0;
  // Counters are the last numbers of a SimulationOutcome.
  const auto counts = run.reproducible.begin() + static_cast<std::ptrdiff_t>(dimensions + 10);
  run.counters = counters_of(counts);
  for (std::size_t i = 0; i < counter_rows().size(); ++i) {
    if (counter_rows()[i].counts_meetings) *(counts + static_cast<std::ptrdiff_t>(i)) = 0;
  }
  run.failure = report.text;
  return run;
}

}  // namespace espalier::test
