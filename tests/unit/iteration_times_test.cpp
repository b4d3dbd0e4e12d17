#include <catch2/catch.hpp>

#include "sims/experiment/training_work.h"

namespace espalier {
namespace {

IterationPlan plan_of(Cycle forward, Cycle backward) {
  IterationPlan plan;
  plan.forward = forward;
  plan.backward = backward;
  return plan;
}

}  // namespace

TEST_CASE("Without overlap an iteration is computing and then the all-reduce") {
  const IterationTimes times = iteration_times(plan_of(100, 200), Overlap::none, {{0, 70}});
  CHECK(times.compute() == 300);
  CHECK(times.all_reduce == 70);
  CHECK(times.exposed() == 70);
  CHECK(times.overlapped == 0);
  CHECK(times.iteration == 370);
}

TEST_CASE("With overlap only what outlasts back-propagation is exposed") {
  // Back-propagation ends at 200: 40 cycles of the first, 10 of the second before it.
  const IterationTimes times =
      iteration_times(plan_of(100, 200), Overlap::layerwise, {{50, 90}, {190, 230}, {225, 260}});
  CHECK(times.all_reduce == 40 + 70);
  CHECK(times.overlapped == 40 + 10);
  CHECK(times.exposed() == 60);
  CHECK(times.iteration == 360);
}

TEST_CASE("Communication that ends before computing does is not exposed") {
  const IterationTimes times = iteration_times(plan_of(5, 200), Overlap::layerwise, {{50, 90}});
  CHECK(times.exposed() == 0);
  CHECK(times.overlapped == 40);
  CHECK(times.iteration == 205);
}

TEST_CASE("Time in which several all-reduces are under way counts once") {
  const IterationTimes times = iteration_times(plan_of(0, 0), Overlap::layerwise,
                                               {{0, 100}, {10, 60}, {90, 140}, {150, 160}});
  CHECK(times.all_reduce == 150);
  CHECK(times.iteration == 160);
}

}  // namespace espalier
