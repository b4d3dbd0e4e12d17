#include "alg/plans/order_forecast.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <stdexcept>

#include "alg/certify/certifier.h"
#include "dimension_cases.h"

using namespace espalier;
using espalier::test::WorkedExample;

namespace {

// A reduce_scatter (all_gather) of one chunk of 64 KB in one dimension of 8 NPUs.
DimensionPlan single_stage(CollectiveOp op, DimensionAlgorithm algorithm) {
  PlanRequest request;
  request.op = op;
  request.size = 65536;
  request.chunks = 1;
  return plan_baseline({{8, algorithm, 16'000'000'000, 0}}, request);
}

ForecastSpec slow_links(DimensionShape shape) {
  ForecastSpec spec;
  ForecastDimension d;
  d.shape = shape;
  d.links = 2;
  d.ticks_per_cycle = 2;
  d.ticks_per_flit = 3;
  d.overhead = 100;
  spec.dimensions = {d};
  spec.arbitration = 5;
  spec.reduction = 7;
  return spec;
}

// A message of `bytes` over two links, one flit of 16 bytes in 1.5 cycles.
Cycle serialized(Bytes bytes) { return ((1 + bytes / 2 / 16) * 3 + 1) / 2; }

Cycle cycles_of(CollectiveOp op, DimensionAlgorithm algorithm, DimensionShape shape) {
  return forecast_order(single_stage(op, algorithm), slow_links(shape)).cycles;
}

double units(const DimensionPlan& plan, const ArbiterSpec& arbiter) {
  ForecastSpec spec = WorkedExample::forecast();
  spec.arbiter = arbiter;
  return static_cast<double>(forecast_order(plan, spec).cycles) /
         static_cast<double>(WorkedExample::kUnitCycles);
}

Approx about(double value) { return Approx(value).epsilon(1e-4); }

// The shortest forecast over all orders of the reduction and all orders of the gathering of every
// chunk, (D! x D!)^chunks of them.
Cycle best_of_all_orders(DimensionPlan plan, const ForecastSpec& spec) {
  const std::size_t dimensions = plan.dimensions.size();
  const auto half = static_cast<std::ptrdiff_t>(dimensions);
  const auto by_dimension = [](const PlannedStage& a, const PlannedStage& b) {
    return a.dimension < b.dimension;
  };
  // An odometer of permutations: two wheels per chunk.
  for (PlannedChunk& chunk : plan.chunks) {
    std::sort(chunk.stages.begin(), chunk.stages.begin() + half, by_dimension);
    std::sort(chunk.stages.begin() + half, chunk.stages.end(), by_dimension);
  }
  Cycle best = kNever;
  for (bool turned = true; turned;) {
    best = std::min(best, forecast_order(plan, spec).cycles);
    turned = false;
    for (std::size_t w = 0; w < 2 * plan.chunks.size() && !turned; ++w) {
      std::vector<PlannedStage>& stages = plan.chunks[w / 2].stages;
      const auto first = stages.begin() + (w % 2 == 0 ? 0 : half);
      turned = std::next_permutation(first, first + half, by_dimension);
    }
  }
  return best;
}

}  // namespace

TEST_CASE("The stages of one chunk take the time of their steps") {
  constexpr auto kScatter = CollectiveOp::reduce_scatter;
  constexpr auto kGather = CollectiveOp::all_gather;
  constexpr Bytes kBlock = 65536 / 8;
  SECTION("ring: P-1 steps of half a block in each direction") {
    const Cycle step = serialized(kBlock / 2) + 100;
    CHECK(cycles_of(kScatter, DimensionAlgorithm::ring, DimensionShape::ring) ==
          5 + 7 * (step + 7));
    CHECK(cycles_of(kGather, DimensionAlgorithm::ring, DimensionShape::ring) == 5 + 7 * step);
  }
  SECTION("halving-doubling: half of what is left, down to a block") {
    Cycle steps = 0;
    for (const Bytes blocks : {4U, 2U, 1U}) steps += serialized(blocks * kBlock) + 100;
    constexpr auto kAlgorithm = DimensionAlgorithm::halving_doubling;
    CHECK(cycles_of(kScatter, kAlgorithm, DimensionShape::switched) == 5 + steps + 3 * 7);
    CHECK(cycles_of(kGather, kAlgorithm, DimensionShape::switched) == 5 + steps);
  }
  SECTION("direct: all blocks at once on links of their own, one after the other to a switch") {
    constexpr auto kAlgorithm = DimensionAlgorithm::direct;
    CHECK(cycles_of(kGather, kAlgorithm, DimensionShape::fully_connected) ==
          5 + serialized(kBlock) + 100);
    const Cycle all = (7 * (1 + kBlock / 2 / 16) * 3 + 1) / 2;
    CHECK(cycles_of(kGather, kAlgorithm, DimensionShape::switched) == 5 + all + 100);
  }
  SECTION("in the network: all but one's own up and one down, and the other way round") {
    constexpr auto kAlgorithm = DimensionAlgorithm::in_network;
    const Cycle others = (7 * (1 + kBlock / 2 / 16) * 3 + 1) / 2;
    const Cycle one = serialized(kBlock);
    CHECK(cycles_of(kScatter, kAlgorithm, DimensionShape::switched) == 5 + others + 7 + one + 107);
    CHECK(cycles_of(kGather, kAlgorithm, DimensionShape::switched) == 5 + one + others + 100);
  }
}

TEST_CASE("Each packet has a head flit; a message has one head flit") {
  const DimensionPlan plan = single_stage(CollectiveOp::all_gather, DimensionAlgorithm::direct);
  ForecastSpec spec = slow_links(DimensionShape::fully_connected);
  const Cycle as_message = forecast_order(plan, spec).cycles;
  spec.dimensions[0].message_mode = false;
  // 4096 bytes per link: 16 packets, 15 more heads.
  CHECK(forecast_order(plan, spec).cycles - as_message == Approx(15 * 1.5).margin(1));
}

TEST_CASE("The worked example ends as in Themis' Fig. 5") {
  const auto dimensions = WorkedExample::dimensions();
  const DimensionPlan baseline = plan_baseline(dimensions, WorkedExample::request());
  const DimensionPlan themis = plan_themis(dimensions, WorkedExample::request());
  for (const TieRule ties : {TieRule::newest, TieRule::oldest}) {
    CHECK(units(baseline, {QueueOrder::fifo, ChunkKey::larger, ties}) == about(8));
    CHECK(units(themis, {QueueOrder::scf, ChunkKey::larger, ties}) == about(7));
    CHECK(units(themis, {QueueOrder::scf, ChunkKey::before, ties}) == about(8));
  }
}

TEST_CASE(
    "On the worked example Themis is the best of all orders, with fewer chunks it need not be") {
  ForecastSpec spec = WorkedExample::forecast();
  spec.arbiter.ties = TieRule::oldest;
  const auto dimensions = WorkedExample::dimensions();
  PlanRequest request = WorkedExample::request();
  for (std::uint32_t chunks = 2; chunks <= 4; ++chunks) {
    request.chunks = chunks;
    request.size = chunks * WorkedExample::kChunk;
    const DimensionPlan plan = plan_themis(dimensions, request);
    const Cycle baseline = forecast_order(plan_baseline(dimensions, request), spec).cycles;
    const Cycle themis = forecast_order(plan, spec).cycles;
    const Cycle best = best_of_all_orders(plan, spec);
    CAPTURE(chunks, baseline, themis, best);
    CHECK(best <= themis);
    CHECK(best <= baseline);
    if (chunks == 4) CHECK(themis == best);
    if (chunks == 4) CHECK(themis < baseline);
    // The second of two chunks makes up for the load of the first and is then alone with its own.
    if (chunks == 2) CHECK(themis > baseline);
  }
}

TEST_CASE("No choice of orders beats what the bytes of the chunks need at full bandwidth") {
  // Three dimensions, two chunks: 1296 plans.
  std::vector<PlannedDimension> dimensions(3, {2, DimensionAlgorithm::direct, 16'000'000'000, 0});
  dimensions[1].bytes_per_second = 8'000'000'000;
  dimensions[2].bytes_per_second = 4'000'000'000;
  PlanRequest request;
  request.size = Bytes{1} << 20;
  request.chunks = 2;
  const DimensionPlan plan = plan_themis(dimensions, request);
  ForecastSpec spec;
  spec.dimensions.resize(3);
  for (std::uint32_t d = 0; d < 3; ++d) spec.dimensions[d].ticks_per_flit = Tick{1} << d;
  const Cycle best = best_of_all_orders(plan, spec);
  CHECK(static_cast<double>(best) >= ideal_seconds(plan) * 1e9);
  CHECK(best <= forecast_order(plan, spec).cycles);
  CHECK(best <= forecast_order(plan_baseline(dimensions, request), spec).cycles);
}

TEST_CASE("Several stages in flight hide each other's latency but share the bandwidth") {
  PlanRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = Bytes{1} << 20;
  request.chunks = 64;
  const DimensionPlan plan =
      plan_baseline({{8, DimensionAlgorithm::direct, 16'000'000'000, 0}}, request);
  ForecastSpec spec;
  spec.dimensions.resize(1);
  spec.dimensions[0].overhead = 2000;
  const auto busy = static_cast<Cycle>(bytes_sent_on(plan, 0) / 16) + 64 * 7;  // with heads
  Cycle before = kNever;
  for (const std::uint32_t in_flight : {1U, 2U, 4U, 8U}) {
    spec.flight.places = in_flight;
    const Cycle cycles = forecast_order(plan, spec).cycles;
    CHECK(cycles <= before);
    if (in_flight <= 2) CHECK(cycles < before);
    CHECK(cycles >= busy);
    before = cycles;
  }
  CHECK(before < busy + 2000 + 100);
}

TEST_CASE("With one stage in flight, a dimension starts stages in the order of its queue") {
  PlanRequest request;
  request.op = CollectiveOp::reduce_scatter;
  request.size = 4 * 64 * 16;
  request.chunks = 4;
  const DimensionPlan plan =
      plan_baseline({{4, DimensionAlgorithm::direct, 16'000'000'000, 0}}, request);
  ForecastSpec spec;
  spec.dimensions.resize(1);
  spec.flight.places = 1;
  const auto chunks = [&](const ArbiterSpec& arbiter) {
    spec.arbiter = arbiter;
    std::vector<std::uint32_t> order;
    const Forecast forecast = forecast_order(plan, spec);
    for (const StageRef ref : forecast.start_order[0]) order.push_back(ref.chunk);
    return order;
  };
  CHECK(chunks({QueueOrder::fifo, ChunkKey::larger, TieRule::newest}) ==
        std::vector<std::uint32_t>{0, 1, 2, 3});
  // All are ready in cycle 0, in ascending order.
  CHECK(chunks({QueueOrder::scf, ChunkKey::larger, TieRule::newest}) ==
        std::vector<std::uint32_t>{3, 2, 1, 0});
  CHECK(chunks({QueueOrder::scf, ChunkKey::larger, TieRule::oldest}) ==
        std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("The forecast order of any plan is complete, free of deadlock and the same every time") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    DimensionPlan plan = test::random_plan(random);
    const ForecastSpec spec = test::random_forecast_spec(plan, random);
    const Forecast forecast = forecast_order(plan, spec);
    plan.start_order = forecast.start_order;
    for (const Violation& v : certify_dimension_plan(plan, spec.flight.places)) FAIL_CHECK(v.what);
    const Forecast again = forecast_order(plan, spec);
    CHECK(again.start_order == forecast.start_order);
    CHECK(again.cycles == forecast.cycles);
    // No dimension carries more than its links can.
    for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
      const ForecastDimension& timing = spec.dimensions[d];
      const std::uint32_t directions = timing.shape == DimensionShape::ring ? 2
                                       : timing.shape == DimensionShape::fully_connected
                                           ? plan.dimensions[d].size - 1
                                           : 1;
      const double flits = bytes_sent_on(plan, d) / (directions * timing.links * timing.flit_bytes);
      CHECK(static_cast<double>(forecast.cycles * timing.ticks_per_cycle) >=
            flits * static_cast<double>(timing.ticks_per_flit));
    }
  }
}

TEST_CASE("A collective of 0 bytes takes no time") {
  PlanRequest request;
  const Forecast forecast = forecast_order(plan_baseline(WorkedExample::dimensions(), request),
                                           WorkedExample::forecast());
  CHECK(forecast.cycles == 0);
  CHECK(forecast.start_order.size() == 2);
}

TEST_CASE("A forecast without a place or without a dimension's timing is refused") {
  const DimensionPlan plan = plan_baseline(WorkedExample::dimensions(), WorkedExample::request());
  ForecastSpec spec = WorkedExample::forecast();
  spec.flight.places = 0;
  CHECK_THROWS_AS(forecast_order(plan, spec), std::invalid_argument);
  spec = WorkedExample::forecast();
  spec.dimensions.pop_back();
  CHECK_THROWS_AS(forecast_order(plan, spec), std::invalid_argument);
}
