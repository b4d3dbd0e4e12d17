
#include <catch2/catch.hpp>

#include <functional>
#include <string>

#include "alg/certify/stage_proof.h"
#include "alg/plans/order_forecast.h"
#include "dimension_cases.h"
#include "dimension_plan_expansion.h"
#include "tests/support/certify_schedule.h"
#include "tests/support/networks.h"

using namespace espalier;
using espalier::test::WorkedExample;

namespace {

DimensionPlan ordered(DimensionPlan plan) {
  plan.start_order = forecast_order(plan, test::forecast_spec(plan)).start_order;
  return plan;
}

// 3 x 4 x 5 NPUs, ten chunks.
DimensionPlan sound_plan(CollectiveOp op = CollectiveOp::all_reduce) {
  PlanRequest request;
  request.op = op;
  request.size = 4 * 12'345;
  request.chunks = 10;
  return ordered(plan_themis({{3, DimensionAlgorithm::ring, 3'000'000'000, 0},
                              {4, DimensionAlgorithm::halving_doubling, 2'000'000'000, 0},
                              {5, DimensionAlgorithm::direct, 1'000'000'000, 0}},
                             request));
}

// The violations of a plan, which are all of this kind; the first in words.
std::string only(const DimensionPlan& plan, ViolationKind kind) {
  const std::vector<Violation> violations = certify_dimension_plan(plan, 8);
  if (violations.empty()) return "none";
  for (const Violation& v : violations) {
    CAPTURE(v.what);
    CHECK(std::string(to_string(v.kind)) == to_string(kind));
  }
  return violations.front().what;
}

bool has(const std::vector<Violation>& violations, ViolationKind kind) {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const Violation& v) { return v.kind == kind; });
}

// The steps of an algorithm with one message changed.
class WrongSteps : public StageSteps {
 public:
  WrongSteps(const StageSteps& right, std::uint32_t self, std::uint32_t step)
      : StageSteps(right), self_(self), step_(step) {}

  std::function<void(StageSend&)> change_send;
  std::function<void(StageReceive&)> change_receive;  // of all that get what `self` sends

  [[nodiscard]] StageSend send(StageKind kind, std::uint32_t self, std::uint32_t lane,
                               std::uint32_t step, std::uint32_t i) const {
    StageSend s = StageSteps::send(kind, self, lane, step, i);
    if (change_send && self == self_ && step == step_) change_send(s);
    return s;
  }
  [[nodiscard]] StageReceive receive(StageKind kind, std::uint32_t self, std::uint32_t lane,
                                     std::uint32_t step, std::uint32_t i) const {
    StageReceive r = StageSteps::receive(kind, self, lane, step, i);
    if (change_receive && r.peer == self_ && step == step_) change_receive(r);
    return r;
  }

 private:
  std::uint32_t self_;
  std::uint32_t step_;
};

template <class Steps>
std::optional<Violation> prove(const Steps& steps, StageKind kind) {
  return StageProof<Steps>(steps, kind).run();
}

constexpr StageKind kBothKinds[] = {StageKind::reduce_scatter, StageKind::all_gather};

}  // namespace

TEST_CASE("Plans of all kinds are certified") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const DimensionPlan plan = test::random_plan(random);
    for (const Violation& v : certify_dimension_plan(plan, 1)) FAIL_CHECK(v.what);
  }
  for (const CollectiveOp op :
       {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
    CHECK(certify_dimension_plan(sound_plan(op), 8).empty());
  }
}

TEST_CASE("The general certifier accepts the plan's transfers") {
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    std::mt19937 random(seed);
    std::vector<PlannedDimension> dimensions(1 + test::pick(random, 3));
    for (PlannedDimension& d : dimensions) {
      do {
        d = test::random_dimension(random);
      } while (d.algorithm == DimensionAlgorithm::in_network || d.size > 4);
    }
    PlanRequest request = test::random_request(random);
    request.chunks = 4;
    request.size = 4 * (10'000 + test::pick(random, 1000));
    DimensionPlan plan = plan_themis(dimensions, request);
    if (test::pick(random, 2) == 0) test::shuffle_orders(plan, random);
    const Topology topology =
        make_fully_connected(static_cast<std::uint32_t>(plan.num_nodes()), test::kPlainLink);
    const Schedule schedule = test::PlanExpansion(plan, topology).expand();
    CAPTURE(seed, plan.num_nodes(), dimensions.size(), to_string(plan.op));
    for (const Violation& v : certify(topology, schedule).violations) FAIL_CHECK(v.what);
    // What is sent are the plan's bytes, at every NPU alike but for uneven pieces.
    Bytes sent = 0;
    for (const Transfer& t : schedule.transfers) sent += schedule.bytes_of(t);
    double planned = 0;
    for (std::uint32_t d = 0; d < dimensions.size(); ++d) planned += bytes_sent_on(plan, d);
    CHECK(static_cast<double>(sent) ==
          Approx(planned * static_cast<double>(plan.num_nodes())).epsilon(1e-2));
  }
}

TEST_CASE("A plan that the general certifier refuses is also refused by the plan certifier") {
  // Gathering in another order than the reverse mixes blocks up.
  PlanRequest request;
  request.size = 4 * 144;
  request.chunks = 1;
  DimensionPlan plan = plan_baseline({{3, DimensionAlgorithm::direct, 1'000'000'000, 0},
                                      {4, DimensionAlgorithm::direct, 1'000'000'000, 0}},
                                     request);
  const Topology topology = make_fully_connected(12, test::kPlainLink);
  CHECK(certify(topology, test::PlanExpansion(plan, topology).expand()).ok());
  std::swap(plan.chunks[0].stages[2], plan.chunks[0].stages[3]);
  CHECK_FALSE(certify(topology, test::PlanExpansion(plan, topology).expand()).ok());
  CHECK(only(plan, ViolationKind::postcondition) ==
        "chunk 0: stage 2 gathers on dim1, but must gather on dim2: an all_reduce gathers in the "
        "reverse order of its reduction");
}

TEST_CASE("Chunks that do not cover the collective are refused") {
  constexpr auto kMalformed = ViolationKind::malformed;
  DimensionPlan plan = sound_plan();
  plan.chunks[3].size += 4;
  CHECK(only(plan, kMalformed) == "chunk 4 begins at byte 19760, but chunk 3 ends at byte 19764");
  plan = sound_plan();
  plan.size -= 4;
  CHECK(only(plan, kMalformed) ==
        "the chunks end at byte 49380, but the collective ends at byte 49376");
  plan = sound_plan();
  plan.chunks[0].offset = 8;
  CHECK(only(plan, kMalformed) == "chunk 0 begins at byte 8, but the collective begins at byte 0");
}

TEST_CASE("A plan whose stages name other dimensions is refused") {
  constexpr auto kMalformed = ViolationKind::malformed;
  DimensionPlan plan = sound_plan();
  plan.chunks[2].stages[1].dimension = 3;
  CHECK(only(plan, kMalformed) == "chunk 2 stage 1 is on dim4, but the plan has 3 dimensions");
  plan = sound_plan();
  plan.dimensions[1].size = 6;
  CHECK(only(plan, kMalformed) == "dim2: halving_doubling does not run on a dimension of 6 NPUs");
  plan = sound_plan();
  plan.dimensions[2].size = 5000;
  CHECK(only(plan, kMalformed) ==
        "dim3 has 5000 NPUs; the certifier proves dimensions of at most 4096 NPUs");
  plan = sound_plan();
  plan.dimensions.clear();
  CHECK(only(plan, kMalformed) == "the plan has no dimensions");
  plan = sound_plan();
  plan.op = CollectiveOp::all_to_all;
  CHECK(only(plan, kMalformed) == "a dimension plan cannot carry out an all_to_all");
}

TEST_CASE("Stages that do not carry out the collective are refused") {
  constexpr auto kPostcondition = ViolationKind::postcondition;
  const DimensionPlan sound = sound_plan();
  const auto changed = [&](auto change) {
    DimensionPlan plan = sound;
    plan.start_order.clear();
    change(plan.chunks[0].stages);
    return only(plan, kPostcondition);
  };
  using Stages = std::vector<PlannedStage>;
  REQUIRE(sound.chunks[0].stages[0].dimension == 0);
  REQUIRE(sound.chunks[0].stages[1].dimension == 1);
  CHECK(changed([](Stages& s) { s.pop_back(); }) == "chunk 0: there is no all_gather on dim1");
  CHECK(changed([](Stages& s) { s.erase(s.begin()); }) ==
        "chunk 0: there is no reduce_scatter on dim1");
  CHECK(changed([](Stages& s) { s.insert(s.begin() + 1, s[0]); }) ==
        "chunk 0: stages 0 and 1 are both reduce_scatter on dim1");
  CHECK(changed([](Stages& s) { s[1].dimension = 0; }) ==
        "chunk 0: stages 0 and 1 are both reduce_scatter on dim1");
  CHECK(changed([](Stages& s) { std::swap(s[2], s[3]); }) ==
        "chunk 0: stage 3 reduces on dim3, but stage 2 has already gathered on dim3");
  CHECK(changed([](Stages& s) { std::swap(s[0], s[1]); }) ==
        "chunk 0: stage 4 gathers on dim2, but must gather on dim1: an all_reduce gathers in the "
        "reverse order of its reduction");
  CHECK(changed([](Stages& s) { s.clear(); }) == "chunk 0: there is no reduce_scatter on dim1");

  DimensionPlan plan = sound_plan(CollectiveOp::reduce_scatter);
  plan.chunks[7].stages[2].kind = StageKind::all_gather;
  CHECK(only(plan, kPostcondition).find("chunk 7: stage 2 (all_gather on dim") == 0);
}

TEST_CASE("A start order that omits a stage or names it twice is reported as a deadlock") {
  constexpr auto kDeadlock = ViolationKind::deadlock;
  DimensionPlan plan = sound_plan();
  const StageRef lost = plan.start_order[1].back();
  plan.start_order[1].pop_back();
  CHECK(only(plan, kDeadlock).find("is not named in the start orders") != std::string::npos);
  plan.start_order[1].push_back(lost);
  CHECK(certify_dimension_plan(plan, 8).empty());
  plan.start_order[1].push_back(lost);
  CHECK(only(plan, kDeadlock).find("is named twice in the start orders") != std::string::npos);
  CHECK(has(certify_dimension_plan(sound_plan(), 0), kDeadlock));
}

TEST_CASE("A start order that names a missing stage is malformed") {
  constexpr auto kMalformed = ViolationKind::malformed;
  DimensionPlan plan = sound_plan();
  plan.start_order[0][2] = {10, 0};
  CHECK(only(plan, kMalformed) == "start 2 of dim1 names chunk 10 stage 0, which does not exist");
  plan = sound_plan();
  plan.start_order[0][2] = plan.start_order[1][2];
  CHECK(only(plan, kMalformed).find("start 2 of dim1 names chunk") == 0);
  plan = sound_plan();
  plan.start_order.pop_back();
  CHECK(only(plan, kMalformed) ==
        "the plan has start orders for 2 dimensions, but it has 3 dimensions");
}

TEST_CASE("Two chunks that wait for each other in two dimensions are named as a cycle") {
  PlanRequest request = WorkedExample::request();
  request.op = CollectiveOp::reduce_scatter;
  request.chunks = 2;
  DimensionPlan plan = plan_themis(WorkedExample::dimensions(), request);
  // Chunk 0 visits dim1 and then dim2, chunk 1 the other way round.
  REQUIRE(plan.chunks[1].stages[0].dimension == 1);
  plan.start_order = {{{0, 0}, {1, 1}}, {{1, 0}, {0, 1}}};
  CHECK(certify_dimension_plan(plan, 1).empty());
  plan.start_order = {{{1, 1}, {0, 0}}, {{0, 1}, {1, 0}}};
  CHECK(only(plan, ViolationKind::deadlock) ==
        "chunk 1 stage 1 (reduce_scatter on dim1) waits for chunk 1 stage 0 (reduce_scatter on "
        "dim2), which dim2 starts after chunk 0 stage 1 (reduce_scatter on dim2); "
        "chunk 0 stage 1 (reduce_scatter on dim2) waits for chunk 0 stage 0 (reduce_scatter on "
        "dim1), which dim1 starts after chunk 1 stage 1 (reduce_scatter on dim1)");
}

TEST_CASE("A chunk's stages in the wrong order in one dimension are a cycle of their own") {
  DimensionPlan plan = sound_plan();
  // The reduce_scatter of a chunk after its all_gather.
  std::vector<StageRef>& order = plan.start_order[0];
  const StageRef first = order[0];
  for (StageRef& ref : order) {
    if (ref.chunk == first.chunk && !(ref == first)) std::swap(ref, order[0]);
  }
  CHECK(only(plan, ViolationKind::deadlock).find("waits for") != std::string::npos);
}

TEST_CASE("Random start orders deadlock exactly where the stages cannot be run through") {
  std::size_t deadlocks = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    DimensionPlan plan = ordered(test::random_plan(random));
    for (std::size_t swaps = test::pick(random, 4); swaps > 0; --swaps) {
      std::vector<StageRef>& order = plan.start_order[test::pick(random, plan.start_order.size())];
      std::swap(order[test::pick(random, order.size())], order[test::pick(random, order.size())]);
    }
    // By relaxation over all stages, without looking at heads of queues.
    std::vector<std::vector<bool>> ended;
    for (const PlannedChunk& c : plan.chunks) ended.emplace_back(c.stages.size(), false);
    bool stuck = false;
    for (bool moved = true; moved;) {
      moved = false;
      stuck = false;
      for (const auto& order : plan.start_order) {
        for (std::size_t i = 0; i < order.size(); ++i) {
          const auto [chunk, stage] = order[i];
          const bool turn = i == 0 || ended[order[i - 1].chunk][order[i - 1].stage];
          const bool ready = stage == 0 || ended[chunk][stage - 1];
          if (!ended[chunk][stage] && turn && ready) ended[chunk][stage] = moved = true;
          stuck = stuck || !ended[chunk][stage];
        }
      }
    }
    CHECK(has(certify_dimension_plan(plan, 3), ViolationKind::deadlock) == stuck);
    deadlocks += stuck ? 1 : 0;
  }
  CHECK(deadlocks > 40);
  CHECK(deadlocks < 360);
}

TEST_CASE("The certifier proves the steps of every algorithm for groups of any size") {
  for (const DimensionAlgorithm algorithm : test::kAllAlgorithms) {
    for (const std::uint32_t size : {2U, 3U, 4U, 5U, 8U, 13U, 16U, 64U, 100U, 256U}) {
      if (!suits(algorithm, size)) continue;
      for (const StageKind kind : kBothKinds) {
        const auto fault = prove(StageSteps(algorithm, size), kind);
        if (fault) FAIL_CHECK(fault->what);
      }
    }
  }
}

TEST_CASE("Steps that send a wrong block, to a wrong NPU or not at all are refused") {
  for (const DimensionAlgorithm algorithm : test::kAllAlgorithms) {
    const StageSteps right(algorithm, 8);
    for (const StageKind kind : kBothKinds) {
      for (std::uint32_t step = 0; step < right.steps(); ++step) {
        WrongSteps steps(right, 3, step);
        CAPTURE(to_string(algorithm), to_string(kind), step);
        REQUIRE_FALSE(prove(steps, kind));
        steps.change_send = [](StageSend& s) { s.blocks.first = (s.blocks.first + 1) % 8; };
        CHECK(prove(steps, kind));
        steps.change_send = [](StageSend& s) { s.peer = (s.peer + 1) % 8; };
        CHECK(prove(steps, kind));
        steps.change_send = [](StageSend& s) { s.blocks.count = 0; };
        CHECK(prove(steps, kind));
      }
    }
  }
}

TEST_CASE("A block that both sides agree is sent twice is counted twice, and another is missing") {
  // NPU 3 of a ring repeats in step 2 what it sent in step 1, and its neighbour expects it.
  for (const StageKind kind : kBothKinds) {
    WrongSteps steps(StageSteps(DimensionAlgorithm::ring, 8), 3, 2);
    const std::uint32_t repeated = steps.StageSteps::send(kind, 3, 0, 1, 0).blocks.first;
    const std::uint32_t meant = steps.StageSteps::send(kind, 3, 0, 2, 0).blocks.first;
    steps.change_send = [=](StageSend& s) {
      if (s.peer == 4) s.blocks.first = repeated;
    };
    steps.change_receive = [=](StageReceive& r) {
      if (r.blocks.first == meant) r.blocks.first = repeated;
    };
    const auto fault = prove(steps, kind);
    REQUIRE(fault);
    CHECK(fault->kind == ViolationKind::postcondition);
  }
}

TEST_CASE("A block that is passed on before it has arrived is read before it is written") {
  // The steps of a ring in the reverse order: everything is sent once, but nothing in time.
  class Backwards : public StageSteps {
   public:
    using StageSteps::StageSteps;
    [[nodiscard]] StageSend send(StageKind kind, std::uint32_t self, std::uint32_t lane,
                                 std::uint32_t step, std::uint32_t i) const {
      return StageSteps::send(kind, self, lane, steps() - 1 - step, i);
    }
    [[nodiscard]] StageReceive receive(StageKind kind, std::uint32_t self, std::uint32_t lane,
                                       std::uint32_t step, std::uint32_t i) const {
      return StageSteps::receive(kind, self, lane, steps() - 1 - step, i);
    }
  };
  for (const StageKind kind : kBothKinds) {
    for (const auto algorithm : {DimensionAlgorithm::ring, DimensionAlgorithm::halving_doubling}) {
      const auto fault = prove(Backwards(algorithm, 8), kind);
      REQUIRE(fault);
      CHECK(fault->kind == ViolationKind::read_before_write);
    }
  }
}
