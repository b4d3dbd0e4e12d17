#include "sims/workload/training/timeline.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

constexpr TimePart kForward = TimePart::forward;
constexpr TimePart kBackward = TimePart::backward;

CommunicationOp of(Bytes bytes, CommunicationScope scope) {
  return {CollectiveOp::all_reduce, bytes, scope};
}

// 4 x 4: the group's dimension, and the other one. Or 2 x 8, cut in the second.
ParallelGroups separate() { return {{{0, 4}, {1, 4}}, {{0, 4}}, {{1, 4}}}; }
ParallelGroups sharing() { return {{{0, 2}, {1, 8}}, {{0, 2}, {1, 2}}, {{1, 4}}}; }

TrainingTimeline run(const Workload& workload, const ParallelGroups& groups,
                     std::uint32_t iterations = 1) {
  // As many nanoseconds as bytes.
  const auto cost = [](const CommunicationOp& op) { return static_cast<double>(op.bytes); };
  return run_timeline(workload, groups, cost, iterations);
}

// A host posts an operation two cycles of a picosecond after the step before it.
Approx about(double nanoseconds) { return Approx(nanoseconds).margin(0.01).epsilon(0); }

}  // namespace

TEST_CASE("Gradients exchanged after back-propagation are exposed whole, in every iteration") {
  Workload w;
  w.compute("a", kForward, 10);
  w.compute("a", kForward, 5);
  w.compute("a", kBackward, 7);
  w.compute("a", kBackward, 20);
  w.issue(of(100, CommunicationScope::all), TimePart::data);
  const TrainingTimeline t = run(w, separate(), 3);
  CHECK(t.forward == 45);
  CHECK(t.backward == 81);
  CHECK(t.exposed_data == about(300));
  CHECK(t.exposed_model == about(0));
  CHECK(t.communication == about(300));
  CHECK(t.total() == about(426));
}

TEST_CASE("Only communication that outlasts the computing beside it is exposed") {
  Workload w;
  w.compute("b", kBackward, 10);
  w.issue(of(30, CommunicationScope::all), TimePart::data);  // 10 to 40
  w.compute("a", kBackward, 50);                             // to 60
  w.issue(of(20, CommunicationScope::all), TimePart::data);  // 60 to 80
  CHECK(run(w, separate()).exposed_data == about(20));
  CHECK(run(w, separate()).communication == about(50));
}

TEST_CASE("A blocking operation ends before the next step") {
  Workload w;
  w.compute("a", kForward, 10);
  w.issue_blocking(of(30, CommunicationScope::model), TimePart::model);
  w.compute("b", kForward, 10);
  w.issue_blocking(of(40, CommunicationScope::model), TimePart::model);
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed_model == about(70));
  CHECK(t.exposed_data == about(0));
  CHECK(t.total() == about(90));
}

TEST_CASE("A step that waits later sees only the rest") {
  Workload w;
  w.compute("embedding", kForward, 1);
  const std::uint32_t vectors = w.issue(of(30, CommunicationScope::all), TimePart::model);
  w.compute("bottom", kForward, 20);
  w.wait(vectors);
  w.compute("top", kForward, 5);
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed_model == about(10));
  CHECK(t.total() == about(36));
}

TEST_CASE("Operations on dimensions of their own run at the same time") {
  Workload w;
  w.compute("a", kBackward, 10);
  w.issue(of(30, CommunicationScope::model), TimePart::model);  // to 40
  w.issue(of(50, CommunicationScope::data), TimePart::data);    // to 60
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed_model == about(30));
  CHECK(t.exposed_data == about(20));
  CHECK(t.communication == about(50));
}

TEST_CASE("Groups that cut one dimension between them run one after the other") {
  Workload w;
  w.compute("a", kBackward, 10);
  w.issue(of(30, CommunicationScope::model), TimePart::model);  // to 40
  w.issue(of(50, CommunicationScope::data), TimePart::data);    // to 90
  const TrainingTimeline t = run(w, sharing());
  CHECK(t.exposed_model == about(30));
  CHECK(t.exposed_data == about(50));
  CHECK(t.communication == about(80));
}

TEST_CASE("An operation on all dimensions waits for the last of them") {
  Workload w;
  w.compute("a", kBackward, 10);
  w.issue(of(30, CommunicationScope::model), TimePart::model);  // to 40
  w.issue(of(50, CommunicationScope::data), TimePart::data);    // to 60
  w.issue(of(7, CommunicationScope::all), TimePart::data);      // 60 to 67
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed() == about(57));
  CHECK(t.communication == about(57));
}

TEST_CASE("An iteration of more than 104 days is refused before its times overflow") {
  Workload w;
  w.compute("a", kBackward, 5e15);
  w.issue(of(Bytes{5'000'000'000'000'000}, CommunicationScope::all), TimePart::data);
  CHECK_THROWS_WITH(run(w, separate()), Catch::Contains("more than 104 days"));
  w.compute("b", kBackward, 1e30);
  CHECK(w.computing() >= kLongestIteration);
}

}  // namespace espalier
