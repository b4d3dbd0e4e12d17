#include "alg/plans/dimension_plan.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "dimension_cases.h"

using namespace espalier;
using espalier::test::WorkedExample;

namespace {

using Order = std::vector<std::uint32_t>;

// Of the stages that come first: an all_reduce's reduce_scatter half.
Order order_of(const DimensionPlan& plan, std::size_t chunk) {
  Order order;
  for (std::size_t s = 0; s < plan.dimensions.size(); ++s) {
    order.push_back(plan.chunks[chunk].stages[s].dimension);
  }
  return order;
}

std::vector<Order> orders_of(const DimensionPlan& plan) {
  std::vector<Order> orders;
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) orders.push_back(order_of(plan, c));
  return orders;
}

double units(std::uint64_t femtoseconds) {
  return static_cast<double>(femtoseconds) / static_cast<double>(WorkedExample::kUnitFs);
}

}  // namespace

TEST_CASE("Themis' planner reproduces each step of the worked example in its Fig. 7") {
  const DimensionPlan all = plan_themis(WorkedExample::dimensions(), WorkedExample::request());
  CHECK(all.algorithm == "themis");
  CHECK(orders_of(all) == std::vector<Order>{{0, 1}, {1, 0}, {0, 1}, {0, 1}});
  // The first chunks of a plan do not depend on those that follow.
  const std::vector<std::vector<double>> loads{{1, 0.5}, {1.25, 2.5}, {2.25, 3}, {3.25, 3.5}};
  for (std::uint32_t chunks = 1; chunks <= 4; ++chunks) {
    PlanRequest request = WorkedExample::request();
    request.chunks = chunks;
    request.size = chunks * WorkedExample::kChunk;
    const DimensionPlan plan = plan_themis(WorkedExample::dimensions(), request);
    CAPTURE(chunks);
    CHECK(units(plan.loads_fs[0]) == loads[chunks - 1][0]);
    CHECK(units(plan.loads_fs[1]) == loads[chunks - 1][1]);
  }
}

TEST_CASE("The baseline of the worked example leaves dim2 half idle") {
  const DimensionPlan plan = plan_baseline(WorkedExample::dimensions(), WorkedExample::request());
  CHECK(plan.algorithm == "baseline");
  CHECK(orders_of(plan) == std::vector<Order>(4, Order{0, 1}));
  CHECK(units(plan.loads_fs[0]) == 4);
  CHECK(units(plan.loads_fs[1]) == 2);
  CHECK(plan.start_order.empty());
}

TEST_CASE("An all-reduce gathers in the reverse order of its reduction") {
  const DimensionPlan plan = plan_themis(WorkedExample::dimensions(), WorkedExample::request());
  const std::vector<PlannedStage> expected{{StageKind::reduce_scatter, 1},
                                           {StageKind::reduce_scatter, 0},
                                           {StageKind::all_gather, 0},
                                           {StageKind::all_gather, 1}};
  CHECK(plan.chunks[1].stages == expected);
}

TEST_CASE("A baseline all-gather is the way back of the all-reduce, dimD to dim1") {
  std::mt19937 random(1);
  std::vector<PlannedDimension> dimensions(3);
  for (PlannedDimension& d : dimensions) d = test::random_dimension(random);
  PlanRequest request = WorkedExample::request();
  request.op = CollectiveOp::all_gather;
  CHECK(order_of(plan_baseline(dimensions, request), 0) == Order{2, 1, 0});
  request.op = CollectiveOp::reduce_scatter;
  CHECK(order_of(plan_baseline(dimensions, request), 0) == Order{0, 1, 2});
}

TEST_CASE("A Themis all-gather of the worked example is its reduce-scatter backwards") {
  PlanRequest request = WorkedExample::request();
  request.op = CollectiveOp::reduce_scatter;
  const DimensionPlan scatter = plan_themis(WorkedExample::dimensions(), request);
  request.op = CollectiveOp::all_gather;
  const DimensionPlan gather = plan_themis(WorkedExample::dimensions(), request);
  for (std::size_t c = 0; c < 4; ++c) {
    Order backwards = order_of(gather, c);
    std::reverse(backwards.begin(), backwards.end());
    CHECK(backwards == order_of(scatter, c));
  }
  CHECK(gather.loads_fs == scatter.loads_fs);
}

TEST_CASE("A load that differs by less than the threshold keeps the baseline's order") {
  // After the first chunk the loads differ by half a unit; the threshold is 1/divisor of a chunk on
  // the dimension with the lower one, dim2, where a whole chunk takes 2 units.
  PlanRequest request = WorkedExample::request();
  request.threshold_divisor = 4;  // not below half a unit
  CHECK(order_of(plan_themis(WorkedExample::dimensions(), request), 1) == Order{1, 0});
  request.threshold_divisor = 3;
  CHECK(order_of(plan_themis(WorkedExample::dimensions(), request), 1) == Order{0, 1});
}

TEST_CASE("Dimensions with equal loads keep the order that they have in the baseline") {
  // Two equal dimensions after a fast one: dim1 is always the least loaded, or all are within the
  // threshold.
  std::vector<PlannedDimension> dimensions(3, {4, DimensionAlgorithm::ring, 1'000'000'000, 0});
  dimensions[0] = {2, DimensionAlgorithm::ring, 1'000'000'000'000, 0};
  PlanRequest request = WorkedExample::request();
  request.op = CollectiveOp::reduce_scatter;
  request.loads_start_at_fixed_delay = true;
  for (PlannedDimension& d : dimensions) d.step_latency_ps = 1'000'000'000'000;
  dimensions[0].step_latency_ps = 0;
  CHECK(order_of(plan_themis(dimensions, request), 0) == Order{0, 1, 2});
  request.op = CollectiveOp::all_gather;
  CHECK(order_of(plan_themis(dimensions, request), 0) == Order{2, 1, 0});
}

TEST_CASE("Loads start at the fixed delay of a dimension's steps where that is asked for") {
  std::vector<PlannedDimension> dimensions = WorkedExample::dimensions();
  dimensions[0].algorithm = DimensionAlgorithm::ring;
  dimensions[0].step_latency_ps = 700'000;
  PlanRequest request = WorkedExample::request();
  const DimensionPlan plain = plan_themis(dimensions, request);
  request.loads_start_at_fixed_delay = true;
  const DimensionPlan delayed = plan_themis(dimensions, request);
  REQUIRE(orders_of(plain) == orders_of(delayed));
  CHECK(delayed.loads_fs[0] == plain.loads_fs[0] + 3 * 700'000'000ULL);
  CHECK(delayed.loads_fs[1] == plain.loads_fs[1]);
}

TEST_CASE("Chunks are whole elements and differ by at most one") {
  PlanRequest request;
  request.size = 4 * 1003;
  request.chunks = 10;
  const DimensionPlan plan = plan_themis(WorkedExample::dimensions(), request);
  REQUIRE(plan.chunks.size() == 10);
  Bytes end = 0;
  for (const PlannedChunk& chunk : plan.chunks) {
    CHECK(chunk.offset == end);
    end += chunk.size;
    CHECK((chunk.size == 400 || chunk.size == 404));
  }
  CHECK(end == request.size);
  request.size = 12;
  CHECK(plan_baseline(WorkedExample::dimensions(), request).chunks.size() == 3);
  request.size = 0;
  CHECK(plan_baseline(WorkedExample::dimensions(), request).chunks.empty());
}

TEST_CASE("A chunk shrinks by the size of a dimension that it reduces in, and grows back") {
  const DimensionPlan plan = plan_themis(WorkedExample::dimensions(), WorkedExample::request());
  const double mb = 1 << 20;
  const std::vector<double> held{64 * mb, 16 * mb, 4 * mb, 16 * mb, 64 * mb};
  CHECK(plan.residents(0) == held);
  for (std::uint32_t s = 0; s < 4; ++s) CHECK(plan.resident_before({0, s}) == held[s]);
  PlanRequest request = WorkedExample::request();
  request.op = CollectiveOp::all_gather;
  const DimensionPlan gather = plan_baseline(WorkedExample::dimensions(), request);
  CHECK(gather.resident_before({0, 0}) == 4 * mb);
  CHECK(gather.residents(0).back() == 64 * mb);
}

TEST_CASE("Whatever their order, stages send what a reduction over all NPUs must") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const DimensionPlan plan = test::random_plan(random);
    double sent = 0;
    double expected_in_network = 0;
    for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
      const PlannedDimension& dimension = plan.dimensions[d];
      double here = 0;
      for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
        double resident = static_cast<double>(plan.chunks[c].size);
        if (plan.op == CollectiveOp::all_gather) resident /= static_cast<double>(plan.num_nodes());
        for (const PlannedStage& s : plan.chunks[c].stages) {
          const std::uint32_t size = plan.dimensions[s.dimension].size;
          const double next =
              s.kind == StageKind::reduce_scatter ? resident / size : resident * size;
          if (s.dimension == d) {
            // An NPU sends what it no longer has afterwards, or what the others have more.
            here += dimension.algorithm == DimensionAlgorithm::in_network &&
                            s.kind == StageKind::all_gather
                        ? resident
                        : std::abs(next - resident);
            if (dimension.algorithm == DimensionAlgorithm::in_network &&
                s.kind == StageKind::all_gather) {
              expected_in_network += next - 2 * resident;  // spared by the switch
            }
          }
          resident = next;
        }
      }
      CHECK(bytes_sent_on(plan, d) == Approx(here).epsilon(1e-12));
      sent += bytes_sent_on(plan, d);
    }
    const double phases = plan.op == CollectiveOp::all_reduce ? 2 : 1;
    const double all =
        phases * static_cast<double>(plan.size) * (1 - 1 / static_cast<double>(plan.num_nodes()));
    CHECK(sent + expected_in_network == Approx(all).epsilon(1e-9));
  }
}

TEST_CASE("Loads are the bytes of each dimension at its bandwidth") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<PlannedDimension> dimensions = test::random_dimensions(random);
    PlanRequest request = test::random_request(random);
    if (request.op == CollectiveOp::all_reduce) request.op = CollectiveOp::reduce_scatter;
    const DimensionPlan plan = plan_themis(dimensions, request);
    for (std::uint32_t d = 0; d < dimensions.size(); ++d) {
      double bytes = bytes_sent_on(plan, d);
      // One copy goes to the switch, what all others have comes back.
      if (request.op == CollectiveOp::all_gather &&
          dimensions[d].algorithm == DimensionAlgorithm::in_network) {
        bytes *= dimensions[d].size - 1;
      }
      const double seconds = bytes / static_cast<double>(dimensions[d].bytes_per_second);
      CHECK(static_cast<double>(plan.loads_fs[d]) == Approx(seconds * 1e15).margin(1));
    }
    // An all_reduce's loads are those of its reduction.
    if (request.op != CollectiveOp::reduce_scatter) continue;
    request.op = CollectiveOp::all_reduce;
    CHECK(plan_themis(dimensions, request).loads_fs == plan.loads_fs);
  }
}

// Rounding must not decide between loads that are equal: no order depends on the size then.
TEST_CASE("The orders of equal chunks do not depend on their size") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<PlannedDimension> dimensions = test::random_dimensions(random);
    PlanRequest request = test::random_request(random);
    request.loads_start_at_fixed_delay = false;
    const Bytes chunk = request.chunks * request.element_bytes;
    request.size = chunk;
    const auto orders = orders_of(plan_themis(dimensions, request));
    for (const Bytes times : {3U, 7U, 1000U, 999'983U}) {
      CAPTURE(times);
      request.size = chunk * times;
      CHECK(orders_of(plan_themis(dimensions, request)) == orders);
    }
  }
  // Loads that meet the threshold exactly.
  const std::vector<PlannedDimension> two{{2, DimensionAlgorithm::direct, 16'000'000'000, 100'000},
                                          {4, DimensionAlgorithm::direct, 18'000'000'000, 100'000}};
  PlanRequest request;
  request.chunks = 16;
  request.size = 512;
  const auto orders = orders_of(plan_themis(two, request));
  request.size = 1536;
  CHECK(orders_of(plan_themis(two, request)) == orders);
}

TEST_CASE("Ideal time is that of all bytes at the summed bandwidth") {
  const DimensionPlan plan = plan_baseline(WorkedExample::dimensions(), WorkedExample::request());
  // 2 x 15/16 of four chunks; a unit is 3/4 of one on dim1, and both are 1.5 as fast.
  CHECK(ideal_seconds(plan) == Approx(2.0 * 15 / 16 * 4 / 0.75 / 1.5 * 1e-3));
}

TEST_CASE("Planning twice gives the same plan") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<PlannedDimension> dimensions = test::random_dimensions(random);
    const PlanRequest request = test::random_request(random);
    const DimensionPlan a = plan_themis(dimensions, request);
    const DimensionPlan b = plan_themis(dimensions, request);
    CHECK(orders_of(a) == orders_of(b));
    CHECK(a.loads_fs == b.loads_fs);
  }
}

TEST_CASE("A plan without dimensions, bandwidth, chunks or a reduction is refused") {
  const std::vector<PlannedDimension> sound = WorkedExample::dimensions();
  PlanRequest request = WorkedExample::request();
  CHECK_THROWS_AS(plan_themis({}, request), std::invalid_argument);
  std::vector<PlannedDimension> dimensions = sound;
  dimensions[1].bytes_per_second = 0;
  CHECK_THROWS_AS(plan_themis(dimensions, request), std::invalid_argument);
  dimensions = sound;
  dimensions[0] = {6, DimensionAlgorithm::halving_doubling, 1, 0};
  CHECK_THROWS_AS(plan_baseline(dimensions, request), std::invalid_argument);
  request.chunks = 0;
  CHECK_THROWS_AS(plan_baseline(sound, request), std::invalid_argument);
  request = WorkedExample::request();
  request.op = CollectiveOp::all_to_all;
  CHECK_THROWS_AS(plan_baseline(sound, request), std::invalid_argument);
}
