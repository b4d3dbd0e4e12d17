#include "sims/workload/training/timeline.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

constexpr ComputePhase kForward = ComputePhase::forward;
constexpr ComputePhase kBackward = ComputePhase::weight_gradient;

// As many nanoseconds as bytes.
class ByteCost : public CollectiveCost {
 public:
  [[nodiscard]] double nanoseconds(const CommunicationOp& op) override {
    return static_cast<double>(op.bytes);
  }
};

CommunicationOp of(Bytes bytes, CommunicationScope scope) {
  return {CollectiveOp::all_reduce, bytes, scope};
}

// 4 x 4: the group's dimension, and the other one. Or 2 x 8, cut in the second.
ParallelGroups separate() { return {{{0, 4, 1}, {1, 4, 1}}, {{0, 4, 1}}, {{1, 4, 1}}}; }
ParallelGroups sharing() { return {{{0, 2, 1}, {1, 8, 1}}, {{0, 2, 1}, {1, 2, 1}}, {{1, 4, 2}}}; }

TrainingTimeline run(const Workload& workload, const ParallelGroups& groups,
                     std::uint32_t iterations = 1) {
  ByteCost cost;
  return run_timeline(workload, groups, cost, iterations);
}

}  // namespace

TEST_CASE("Gradients exchanged after back-propagation are exposed whole, in every iteration") {
  Workload w;
  w.compute("a", kForward, 10);
  w.compute("a", ComputePhase::forward_again, 5);
  w.compute("a", ComputePhase::input_gradient, 7);
  w.compute("a", kBackward, 20);
  w.issue(of(100, CommunicationScope::all), Parallelism::data);
  const TrainingTimeline t = run(w, separate(), 3);
  CHECK(t.forward == 45);
  CHECK(t.backward == 81);
  CHECK(t.exposed_data == 300);
  CHECK(t.exposed_model == 0);
  CHECK(t.communication == 300);
  CHECK(t.total() == 426);
}

TEST_CASE("Only communication that outlasts the computing beside it is exposed") {
  Workload w;
  w.compute("b", kBackward, 10);
  w.issue(of(30, CommunicationScope::all), Parallelism::data);  // 10 to 40
  w.compute("a", kBackward, 50);                                // to 60
  w.issue(of(20, CommunicationScope::all), Parallelism::data);  // 60 to 80
  CHECK(run(w, separate()).exposed_data == 20);
  CHECK(run(w, separate()).communication == 50);
}

TEST_CASE("A blocking operation ends before the next step") {
  Workload w;
  w.compute("a", kForward, 10);
  w.issue_blocking(of(30, CommunicationScope::model), Parallelism::model);
  w.compute("b", kForward, 10);
  w.issue_blocking(of(40, CommunicationScope::model), Parallelism::model);
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed_model == 70);
  CHECK(t.exposed_data == 0);
  CHECK(t.total() == 90);
}

TEST_CASE("A step that waits later sees only the rest") {
  Workload w;
  w.compute("embedding", kForward, 1);
  const std::size_t vectors = w.issue(of(30, CommunicationScope::all), Parallelism::model);
  w.compute("bottom", kForward, 20);
  w.wait(vectors);
  w.compute("top", kForward, 5);
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed_model == 10);
  CHECK(t.total() == 36);
}

TEST_CASE("Operations on dimensions of their own run at the same time") {
  Workload w;
  w.compute("a", kBackward, 10);
  w.issue(of(30, CommunicationScope::model), Parallelism::model);  // to 40
  w.issue(of(50, CommunicationScope::data), Parallelism::data);    // to 60
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed_model == 30);
  CHECK(t.exposed_data == 20);
  CHECK(t.communication == 50);
}

TEST_CASE("Groups that cut one dimension between them run one after the other") {
  Workload w;
  w.compute("a", kBackward, 10);
  w.issue(of(30, CommunicationScope::model), Parallelism::model);  // to 40
  w.issue(of(50, CommunicationScope::data), Parallelism::data);    // to 90
  const TrainingTimeline t = run(w, sharing());
  CHECK(t.exposed_model == 30);
  CHECK(t.exposed_data == 50);
  CHECK(t.communication == 80);
}

TEST_CASE("An operation on all dimensions waits for the last of them") {
  Workload w;
  w.compute("a", kBackward, 10);
  w.issue(of(30, CommunicationScope::model), Parallelism::model);  // to 40
  w.issue(of(50, CommunicationScope::data), Parallelism::data);    // to 60
  w.issue(of(7, CommunicationScope::all), Parallelism::data);      // 60 to 67
  const TrainingTimeline t = run(w, separate());
  CHECK(t.exposed() == 57);
  CHECK(t.communication == 57);
}

}  // namespace espalier
