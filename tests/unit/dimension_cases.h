// Multi-dimensional systems and plans for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/order_forecast.h"
#include "test_graphs.h"

namespace espalier::test {

inline constexpr DimensionAlgorithm kAllAlgorithms[] = {
    DimensionAlgorithm::ring, DimensionAlgorithm::direct, DimensionAlgorithm::halving_doubling,
    DimensionAlgorithm::in_network};

inline PlannedDimension random_dimension(std::mt19937& random) {
  PlannedDimension d;
  d.size = static_cast<std::uint32_t>(2 + pick(random, 4));
  do {
    d.algorithm = kAllAlgorithms[pick(random, 4)];
  } while (!suits(d.algorithm, d.size));
  d.bytes_per_second = 1'000'000'000 * (1 + pick(random, 50));
  d.step_latency_ps = 1000 * pick(random, 2000);
  return d;
}

inline std::vector<PlannedDimension> random_dimensions(std::mt19937& random) {
  std::vector<PlannedDimension> dimensions(1 + pick(random, 4));
  for (PlannedDimension& d : dimensions) d = random_dimension(random);
  return dimensions;
}

inline PlanRequest random_request(std::mt19937& random) {
  constexpr CollectiveOp kOps[] = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                   CollectiveOp::all_gather};
  PlanRequest request;
  request.op = kOps[pick(random, 3)];
  request.size = 4 * (1 + pick(random, 1'000'000));
  request.chunks = static_cast<std::uint32_t>(1 + pick(random, 40));
  return request;
}

// Every chunk visits the dimensions in an order of its own.
inline void shuffle_orders(DimensionPlan& plan, std::mt19937& random) {
  const std::size_t dimensions = plan.dimensions.size();
  for (PlannedChunk& chunk : plan.chunks) {
    for (std::size_t i = dimensions; i > 1; --i) {
      std::swap(chunk.stages[i - 1].dimension, chunk.stages[pick(random, i)].dimension);
    }
    for (std::size_t s = dimensions; s < chunk.stages.size(); ++s) {
      chunk.stages[s].dimension = chunk.stages[2 * dimensions - 1 - s].dimension;
    }
  }
}

inline DimensionPlan random_plan(std::mt19937& random) {
  const std::vector<PlannedDimension> dimensions = random_dimensions(random);
  const PlanRequest request = random_request(random);
  switch (pick(random, 3)) {
    case 0:
      return plan_baseline(dimensions, request);
    case 1:
      return plan_themis(dimensions, request);
    default:
      break;
  }
  DimensionPlan plan = plan_baseline(dimensions, request);
  shuffle_orders(plan, random);
  return plan;
}

// Shapes that suit the algorithms, at one flit of 16 bytes per cycle and link.
inline ForecastSpec forecast_spec(const DimensionPlan& plan) {
  ForecastSpec spec;
  for (const PlannedDimension& d : plan.dimensions) {
    ForecastDimension timing;
    timing.shape = d.algorithm == DimensionAlgorithm::ring     ? DimensionShape::ring
                   : d.algorithm == DimensionAlgorithm::direct ? DimensionShape::fully_connected
                                                               : DimensionShape::switched;
    spec.dimensions.push_back(timing);
  }
  return spec;
}

inline ForecastSpec random_forecast_spec(const DimensionPlan& plan, std::mt19937& random) {
  ForecastSpec spec = forecast_spec(plan);
  for (ForecastDimension& d : spec.dimensions) {
    d.links = static_cast<std::uint32_t>(1 + pick(random, 4));
    d.ticks_per_cycle = 4;
    d.ticks_per_flit = 4 + pick(random, 20);
    d.overhead = 1 + pick(random, 500);
    d.message_mode = pick(random, 2) == 0;
  }
  spec.arbiter.order = pick(random, 2) == 0 ? QueueOrder::fifo : QueueOrder::scf;
  spec.arbiter.ties = pick(random, 2) == 0 ? TieRule::newest : TieRule::oldest;
  spec.arbiter.key = static_cast<ChunkKey>(pick(random, 3));
  spec.flight.places = static_cast<std::uint32_t>(1 + pick(random, 8));
  spec.arbitration = pick(random, 3);
  return spec;
}

// Themis, Fig. 5 and 7: 4 x 4 NPUs, dim1 twice as fast as dim2, four chunks of 64 MB. The unit is a
// reduce_scatter of a chunk on dim1.
struct WorkedExample {
  static constexpr std::uint64_t kUnitFs = 1'000'000'000'000;
  static constexpr Bytes kChunk = Bytes{64} << 20;
  static constexpr Cycle kUnitCycles = kChunk / 4 * 3 / 16;

  static std::vector<PlannedDimension> dimensions() {
    constexpr std::uint64_t kPerUnit = kChunk / 4 * 3 * 1000;  // 3/4 of a chunk in a millisecond
    return {{4, DimensionAlgorithm::direct, kPerUnit, 0},
            {4, DimensionAlgorithm::direct, kPerUnit / 2, 0}};
  }
  static PlanRequest request() {
    PlanRequest request;
    request.size = 4 * kChunk;
    request.chunks = 4;
    return request;
  }
  // Next to no latency, one stage at a time.
  static ForecastSpec forecast() {
    ForecastSpec spec;
    spec.dimensions.resize(2);
    spec.dimensions[1].ticks_per_flit = 2;
    spec.flight.places = 1;
    return spec;
  }
};

}  // namespace espalier::test
