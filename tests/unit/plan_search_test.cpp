#include <catch2/catch.hpp>

#include <algorithm>

#include "alg/certify/certifier.h"
#include "alg/plans/planner.h"
#include "dimension_cases.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using espalier::test::WorkedExample;

namespace {

// Small enough that a search takes milliseconds.
PlanRequest small_request(std::mt19937& random) {
  PlanRequest request = test::random_request(random);
  request.chunks = static_cast<std::uint32_t>(1 + test::pick(random, 4));
  return request;
}

// The shortest forecast over all orders of all chunks with `rule`; an all_reduce gathers the same
// way back.
Cycle best_of_all(DimensionPlan plan, ForecastSpec spec, const ArbiterSpec& rule) {
  spec.arbiter = rule;
  const std::size_t dimensions = plan.dimensions.size();
  const auto by_dimension = [](const PlannedStage& a, const PlannedStage& b) {
    return a.dimension < b.dimension;
  };
  const auto mirror = [&](std::vector<PlannedStage>& stages) {
    for (std::size_t s = dimensions; s < stages.size(); ++s) {
      stages[s].dimension = stages[2 * dimensions - 1 - s].dimension;
    }
  };
  const auto half = static_cast<std::ptrdiff_t>(dimensions);
  for (PlannedChunk& chunk : plan.chunks) {
    std::sort(chunk.stages.begin(), chunk.stages.begin() + half, by_dimension);
    mirror(chunk.stages);
  }
  Cycle best = kNever;
  for (bool turned = true; turned;) {
    best = std::min(best, forecast_order(plan, spec).cycles);
    turned = false;
    for (std::size_t c = 0; c < plan.chunks.size() && !turned; ++c) {
      std::vector<PlannedStage>& stages = plan.chunks[c].stages;
      turned = std::next_permutation(stages.begin(), stages.begin() + half, by_dimension);
      mirror(stages);
    }
  }
  return best;
}

}  // namespace

TEST_CASE("A searched plan is proven, repeatable, and never slower than those it starts from") {
  const Planner& searched = *find_planner("themis_search");
  for (std::uint32_t seed = 1; seed <= (test::kSanitized ? 5 : 20); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<PlannedDimension> dimensions = test::random_dimensions(random);
    const PlanRequest request = small_request(random);
    const ForecastSpec spec =
        test::random_forecast_spec(plan_baseline(dimensions, request), random);
    const ForecastPlan found = forecast_plan(searched, dimensions, request, spec);
    CHECK(found.plan.algorithm == "themis_search");
    for (const Violation& v : certify_dimension_plan(found.plan, spec.flight.places)) {
      FAIL_CHECK(v.what);
    }
    CHECK(found.forecast <= forecast_order(plan_themis(dimensions, request), spec).cycles);
    CHECK(found.forecast <= forecast_order(plan_baseline(dimensions, request), spec).cycles);
    const ForecastPlan again = forecast_plan(searched, dimensions, request, spec);
    CHECK(again.forecast == found.forecast);
    CHECK(again.plan.start_order == found.plan.start_order);
  }
}

TEST_CASE("Where all orders can be tried, the search finds the best one of every queue rule") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<PlannedDimension> dimensions{test::random_dimension(random),
                                                   test::random_dimension(random)};
    PlanRequest request = test::random_request(random);
    request.chunks = 5;
    const ForecastSpec spec =
        test::random_forecast_spec(plan_baseline(dimensions, request), random);
    const ForecastPlan found =
        forecast_plan(*find_planner("themis_search"), dimensions, request, spec);
    Cycle best = kNever;
    for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::scf}) {
      for (const ChunkKey key : {ChunkKey::larger, ChunkKey::before, ChunkKey::after}) {
        for (const TieRule ties : {TieRule::newest, TieRule::oldest}) {
          best = std::min(best, best_of_all(found.plan, spec, {order, key, ties}));
        }
      }
    }
    CHECK(found.forecast == best);
  }
}

TEST_CASE("A searched plan's loads are those of its own orders") {
  const ForecastPlan found =
      forecast_plan(*find_planner("themis_search"), WorkedExample::dimensions(),
                    WorkedExample::request(), WorkedExample::forecast());
  // 7 units by Themis's own orders (Fig. 7).
  CHECK(static_cast<double>(found.forecast) <=
        7.01 * static_cast<double>(WorkedExample::kUnitCycles));
  double seconds = 0;
  double bytes = 0;
  for (std::uint32_t d = 0; d < 2; ++d) {
    const double rate = static_cast<double>(found.plan.dimensions[d].bytes_per_second);
    CHECK(2 * static_cast<double>(found.plan.loads_fs[d]) * 1e-15 ==
          Approx(bytes_sent_on(found.plan, d) / rate));
    seconds += 2 * static_cast<double>(found.plan.loads_fs[d]) * 1e-15 * rate;
    bytes += bytes_sent_on(found.plan, d);
  }
  CHECK(seconds == Approx(bytes));
}

TEST_CASE("auto ranks the plans of all planners, without the search where order is not kept") {
  for (std::uint32_t seed = 1; seed <= (test::kSanitized ? 3 : 10); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<PlannedDimension> dimensions = test::random_dimensions(random);
    const PlanRequest request = small_request(random);
    const ForecastSpec spec =
        test::random_forecast_spec(plan_baseline(dimensions, request), random);
    const std::vector<ForecastPlan> all = fastest_plans(dimensions, request, spec, true);
    REQUIRE(all.size() == 3);
    for (const ForecastPlan& ranked : all) {
      const Planner& planner = *find_planner(ranked.plan.algorithm);
      CHECK(ranked.forecast == forecast_plan(planner, dimensions, request, spec).forecast);
      CHECK(ranked.forecast >= all.front().forecast);
    }
    const std::vector<ForecastPlan> free = fastest_plans(dimensions, request, spec, false);
    REQUIRE(free.size() == 2);
    CHECK(free[0].plan.algorithm != "themis_search");
    CHECK(free[1].plan.algorithm != "themis_search");
    const ForecastPlan taken = forecast_plan(*find_planner("auto"), dimensions, request, spec);
    CHECK(taken.plan.algorithm == "auto");
    CHECK(taken.forecast == all.front().forecast);
  }
}

TEST_CASE("Nothing to send, one chunk, one dimension: the search has nothing to change") {
  const Planner& searched = *find_planner("themis_search");
  PlanRequest request = WorkedExample::request();
  request.size = 0;
  CHECK(forecast_plan(searched, WorkedExample::dimensions(), request, WorkedExample::forecast())
            .forecast == 0);
  request = WorkedExample::request();
  ForecastSpec spec = WorkedExample::forecast();
  spec.dimensions.resize(1);
  const std::vector<PlannedDimension> one{WorkedExample::dimensions()[0]};
  CHECK(forecast_plan(searched, one, request, spec).forecast ==
        forecast_order(plan_baseline(one, request), spec).cycles);
}
