#include "ni/engines/dimension_queue_engine.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dimension_engine_support.h"
#include "ni/engines/engine_observer.h"

namespace espalier {
namespace {

using namespace espalier::test;
using Catch::Matchers::Contains;

constexpr std::size_t kNoDimension = 0xffff;

// One NI's engine; the test plays network and peers.
class Driver : public EngineObserver, private BackEnd {
 public:
  Driver(const Dimensions& dimensions, DimensionPlan given_plan,
         const DimensionQueueEngine::Spec& spec, std::size_t node = 0)
      : topology(make_dimensions(dimensions)),
        plan(std::move(given_plan)),
        program(topology, plan, kElement, PartSizes::exact),
        node_(node),
        engine(program, node_, spec) {
    engine.observe(*this);
  }

  Cycle evaluate(Cycle now) {
    evaluated_ = now;
    return engine.evaluate(now, *this);
  }
  Cycle run(Cycle from, Cycle to) {
    Cycle next = kNever;
    for (Cycle now = from; now <= to; ++now) next = evaluate(now);
    return next;
  }

  // A message of the stage's step arrives (and has been added), from whichever peer.
  bool arrive(StageRef stage, Cycle now, std::uint32_t step = 0, std::uint32_t lane = 0) {
    return engine.completed(incoming(stage, step, lane), now);
  }
  [[nodiscard]] Operation incoming(StageRef stage, std::uint32_t step = 0,
                                   std::uint32_t lane = 0) const {
    Operation operation;
    operation.flow = program.flow_of({stage, lane, step});
    operation.to = node_;
    const StageSteps& steps = program.steps_of(program.stage(stage).dimension);
    const std::uint32_t d = program.stage(stage).dimension;
    const std::uint32_t self = program.shape().coordinate(node_, d);
    operation.from = program.shape().peer(
        node_, d, steps.receive(program.stage(stage).kind, self, lane, step, 0).peer);
    return operation;
  }
  // All that has been issued of the stage leaves this NI.
  void leave(StageRef stage, Cycle now) {
    for (auto& [operation, cycle] : issued) {
      if (operation.flow.valid() && program.place_of(operation.flow).stage == stage) {
        engine.sent(operation, now);
        operation.flow = FlowId();
      }
    }
  }
  // All of a stage of one step: what is issued leaves, what is missing arrives.
  void finish(StageRef stage, Cycle now) {
    leave(stage, now);
    const PlannedStage& s = program.stage(stage);
    for (std::uint32_t i = 0; i < program.steps_of(s.dimension).num_receives(s.kind, 0); ++i) {
      arrive(stage, now);
    }
  }

  [[nodiscard]] Cycle started_at(StageRef stage) const {
    for (const auto& [which, cycle] : starts) {
      if (which == stage) return cycle;
    }
    return kNever;
  }
  [[nodiscard]] std::vector<std::uint32_t> chunks_in_start_order() const {
    std::vector<std::uint32_t> chunks;
    for (const auto& start : starts) chunks.push_back(start.first.chunk);
    return chunks;
  }
  [[nodiscard]] std::size_t issued_of(std::uint32_t step, std::uint32_t lane) const {
    return static_cast<std::size_t>(
        std::count_if(issued.begin(), issued.end(), [&](const auto& entry) {
          const StagePlace place = program.place_of(entry.first.flow);
          return place.step == step && place.lane == lane;
        }));
  }
  [[nodiscard]] std::string explained() const {
    std::vector<std::string> names;
    for (std::size_t n = 0; n < plan.num_nodes(); ++n) names.push_back("ni_" + std::to_string(n));
    WaitList waits;
    engine.explain(names[node_.index()], names, waits);
    std::string text;
    for (const Wait& wait : waits) text += wait.who + " > " + wait.whom + ": " + wait.why + "\n";
    return text;
  }

  Topology topology;
  DimensionPlan plan;
  DimensionProgram program;

 private:
  NodeId node_;
  Cycle evaluated_ = 0;

 public:
  DimensionQueueEngine engine;
  std::size_t room = 1'000'000;  // operations that the injection queues still take
  std::size_t full_dimension = kNoDimension;
  std::vector<std::pair<Operation, Cycle>> issued;
  std::vector<std::pair<StageRef, Cycle>> readies;
  std::vector<std::pair<StageRef, Cycle>> starts;
  std::vector<std::pair<StageRef, Cycle>> ends;

 private:
  void stage_ready(StageRef stage, Cycle now) override { readies.emplace_back(stage, now); }
  void stage_started(StageRef stage, Cycle now) override { starts.emplace_back(stage, now); }
  void stage_ended(StageRef stage, Cycle now) override { ends.emplace_back(stage, now); }

  [[nodiscard]] bool reduction_idle(Cycle /*now*/) const override { return true; }
  [[nodiscard]] Cycle reduction_idle_at() const override { return 0; }
  [[nodiscard]] bool all_sent() const override { return true; }
  [[nodiscard]] bool has_ports_for(std::uint32_t) const override { return true; }
  [[nodiscard]] bool has_room(const Operation& operation) const override {
    return room != 0 &&
           program.stage(program.place_of(operation.flow).stage).dimension != full_dimension;
  }
  WorkTimes work(const LocalWork& /*work*/, Cycle now) override { return {now, now, now}; }
  void issue(const Operation& operation, Cycle now) override {
    CHECK(now == evaluated_);
    --room;
    issued.emplace_back(operation, now);
  }
};

using Chunks = std::vector<std::uint32_t>;
constexpr auto kScatter = CollectiveOp::reduce_scatter;
constexpr auto kGather = CollectiveOp::all_gather;
constexpr auto kReduce = CollectiveOp::all_reduce;

// Ends whatever runs first, ten cycles later, until nothing does.
void run_one_by_one(Driver& driver) {
  Cycle now = 0;
  for (std::size_t ended = 0; ended < driver.plan.chunks.size(); ++ended) {
    driver.evaluate(now);
    REQUIRE(driver.starts.size() == ended + 1);
    driver.run(now + 1, now + 10);
    driver.finish(driver.starts.back().first, now + 10);
    now += 11;
  }
  CHECK(driver.engine.done());
}

TEST_CASE("A FIFO queue starts chunks as they became ready, a queue of smallest chunks by size") {
  const std::map<QueueOrder, Chunks> expected{{QueueOrder::fifo, {0, 1, 2, 3}},
                                              {QueueOrder::scf, {1, 3, 2, 0}}};
  for (const auto& [order, chunks] : expected) {
    CAPTURE(static_cast<int>(order));
    const Dimensions dimensions{direct(3)};
    Driver driver(dimensions, plan_of(dimensions, kScatter, {60, 9, 30, 12}), spec_of(order));
    run_one_by_one(driver);
    CHECK(driver.chunks_in_start_order() == chunks);
  }
}

TEST_CASE("Among equal chunks the tie rule decides") {
  for (const TieRule ties : {TieRule::newest, TieRule::oldest}) {
    const Dimensions dimensions{direct(3)};
    DimensionQueueEngine::Spec spec = spec_of(QueueOrder::scf);
    spec.arbiter.ties = ties;
    Driver driver(dimensions, plan_of(dimensions, kScatter, {9, 9, 9}), spec);
    run_one_by_one(driver);
    CHECK(driver.chunks_in_start_order() ==
          (ties == TieRule::newest ? Chunks{2, 1, 0} : Chunks{0, 1, 2}));
  }
}

TEST_CASE("No more stages are under way in a dimension than have a place, one starts per cycle") {
  const Dimensions dimensions{direct(3)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {9, 9, 9, 9, 9}),
                spec_of(QueueOrder::fifo, 3));
  CHECK(driver.evaluate(0) == 1);  // the next choice begins in the next cycle
  CHECK(driver.starts.size() == 1);
  CHECK(driver.evaluate(1) == 2);
  CHECK(driver.evaluate(2) == kNever);
  CHECK(driver.starts.size() == 3);
  driver.run(3, 20);
  CHECK(driver.starts.size() == 3);
  CHECK(driver.engine.in_flight(0) == 3);
  CHECK(driver.engine.queued(0) == 2);
  driver.finish({1, 0}, 20);
  CHECK(driver.engine.in_flight(0) == 2);
  driver.evaluate(21);
  CHECK(driver.started_at({3, 0}) == 21);
  CHECK(driver.engine.in_flight(0) == 3);
}

TEST_CASE("Dimensions start stages in the same cycle") {
  const Dimensions dimensions{direct(3), direct(3)};
  DimensionPlan plan = plan_of(dimensions, kScatter, {9, 9});
  std::swap(plan.chunks[1].stages[0], plan.chunks[1].stages[1]);
  Driver driver(dimensions, plan, spec_of(QueueOrder::fifo));
  CHECK(driver.evaluate(0) == kNever);
  CHECK(driver.started_at({0, 0}) == 0);
  CHECK(driver.started_at({1, 0}) == 0);
}

TEST_CASE("A stage starts as many cycles after it is ready and has a place as arbitration takes") {
  for (const Cycle arbitration : {1U, 2U, 7U}) {
    CAPTURE(arbitration);
    const Dimensions dimensions{direct(3)};
    Driver driver(dimensions, plan_of(dimensions, kScatter, {9, 9}),
                  spec_of(QueueOrder::fifo, 1, arbitration));
    const Cycle next = driver.evaluate(0);
    if (arbitration > 1) {
      CHECK(next == arbitration - 1);
      CHECK(driver.engine.timer_running(0));  // no watchdog takes this for a standstill
      CHECK(driver.engine.in_flight(0) == 1);
    }
    driver.run(1, 30);
    CHECK(driver.started_at({0, 0}) == arbitration - 1);
    CHECK_FALSE(driver.engine.timer_running(30));
    driver.finish({0, 0}, 30);  // its place is free from the next cycle on
    driver.run(31, 60);
    CHECK(driver.started_at({1, 0}) == 30 + arbitration);
  }
}

TEST_CASE("An arbiter chooses among the chunks that wait when a place is free") {
  const Dimensions dimensions{direct(3), direct(3)};
  // Chunk 1 comes through dim1 and is smaller than chunk 2, but too late for the first choice.
  DimensionPlan plan = plan_of(dimensions, kScatter, {9, 9, 90});
  std::swap(plan.chunks[2].stages[0], plan.chunks[2].stages[1]);
  Driver driver(dimensions, plan, spec_of(QueueOrder::scf, 2, 20));
  driver.run(0, 50);
  CHECK(driver.started_at({2, 0}) == 19);
  CHECK(driver.started_at({1, 0}) == 19);
  CHECK(driver.started_at({0, 0}) == 39);  // chosen when the other one had started
}

TEST_CASE("A step is sent in the cycle after the step before came in, lane by lane") {
  const Dimensions dimensions{ring(4)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {64}), spec_of(QueueOrder::fifo));
  driver.evaluate(0);
  CHECK(driver.issued_of(0, 0) == 1);
  CHECK(driver.issued_of(0, 1) == 1);
  driver.run(1, 40);
  CHECK(driver.issued.size() == 2);
  CHECK(driver.arrive({0, 0}, 40, 0, 1));
  driver.evaluate(41);
  CHECK(driver.issued_of(1, 1) == 1);
  CHECK(driver.issued_of(1, 0) == 0);  // the other direction goes its own way
  CHECK(driver.issued.back().second == 41);
  CHECK(driver.arrive({0, 0}, 50, 1, 1));
  driver.evaluate(51);
  CHECK(driver.issued_of(2, 1) == 1);
  CHECK_FALSE(driver.arrive({0, 0}, 60, 2, 1));  // there is no step after the last
  CHECK(driver.arrive({0, 0}, 61, 0, 0));
  driver.evaluate(62);
  CHECK(driver.issued_of(1, 0) == 1);
}

TEST_CASE("A message that arrives early releases the next step when its own step is due") {
  const Dimensions dimensions{halving(8)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {64}), spec_of(QueueOrder::fifo));
  driver.evaluate(0);
  CHECK_FALSE(driver.arrive({0, 0}, 10, 1));
  driver.run(10, 20);
  CHECK(driver.issued.size() == 1);
  CHECK(driver.arrive({0, 0}, 20, 0));
  driver.evaluate(21);
  CHECK(driver.issued_of(1, 0) == 1);
  CHECK(driver.issued_of(2, 0) == 1);
}

TEST_CASE("A step waits for all that the one before receives, a stage for all it sends too") {
  const Dimensions dimensions{direct(4)};
  Driver driver(dimensions, plan_of(dimensions, kReduce, {64}), spec_of(QueueOrder::fifo));
  driver.evaluate(0);
  CHECK(driver.issued.size() == 3);
  for (int peer = 0; peer < 3; ++peer) CHECK_FALSE(driver.arrive({0, 0}, 10));
  driver.run(11, 20);
  CHECK(driver.ends.empty());  // its own messages have not left
  for (int i = 0; i < 3; ++i) {
    CHECK(driver.engine.sent(driver.issued[static_cast<std::size_t>(i)].first, 20) == (i == 2));
  }
  REQUIRE(driver.ends.size() == 1);
  CHECK(driver.ends[0].second == 20);
  driver.evaluate(21);
  CHECK(driver.started_at({0, 1}) == 21);
}

TEST_CASE("Messages that arrive before their stage starts are counted when it starts") {
  const Dimensions dimensions{direct(3)};
  Driver driver(dimensions, plan_of(dimensions, kGather, {9, 9}), spec_of(QueueOrder::fifo));
  driver.evaluate(0);
  CHECK_FALSE(driver.arrive({1, 0}, 5));
  CHECK_FALSE(driver.arrive({1, 0}, 6));
  CHECK(driver.engine.in_flight(0) == 1);
  driver.finish({0, 0}, 10);
  driver.evaluate(11);
  CHECK(driver.started_at({1, 0}) == 11);
  CHECK_FALSE(driver.engine.done());
  driver.leave({1, 0}, 15);
  CHECK(driver.engine.done());
}

TEST_CASE("An early step of many sends the next ones when its stage starts") {
  const Dimensions dimensions{ring(3)};
  Driver driver(dimensions, plan_of(dimensions, kGather, {12, 12}), spec_of(QueueOrder::fifo));
  driver.evaluate(0);
  driver.arrive({1, 0}, 3, 0, 0);
  for (const std::uint32_t lane : {0U, 1U}) {
    for (const std::uint32_t step : {0U, 1U}) driver.arrive({0, 0}, 5 + step, step, lane);
  }
  driver.evaluate(7);
  driver.leave({0, 0}, 7);
  driver.issued.clear();
  driver.evaluate(8);
  CHECK(driver.started_at({1, 0}) == 8);
  CHECK(driver.issued_of(0, 0) == 1);
  CHECK(driver.issued_of(1, 0) == 1);  // what it waits for is there
  CHECK(driver.issued_of(0, 1) == 1);
  CHECK(driver.issued_of(1, 1) == 0);
}

TEST_CASE("Reduces are added only while their stage is under way") {
  const Dimensions dimensions{direct(2), direct(2)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {8, 8}), spec_of(QueueOrder::fifo));
  const Operation first = driver.incoming({0, 0});
  const Operation next_stage = driver.incoming({0, 1});
  const Operation other_chunk = driver.incoming({1, 0});
  CHECK_FALSE(driver.engine.may_add(first));
  driver.evaluate(0);
  CHECK(driver.engine.may_add(first));
  CHECK_FALSE(driver.engine.may_add(next_stage));
  CHECK_FALSE(driver.engine.may_add(other_chunk));
  driver.finish({0, 0}, 10);
  CHECK_FALSE(driver.engine.may_add(next_stage));  // ready, but it has not started
  driver.evaluate(11);
  CHECK(driver.engine.may_add(next_stage));
  CHECK(driver.engine.may_add(other_chunk));
}

TEST_CASE("A full injection queue holds operations back, and they go on in order") {
  const Dimensions dimensions{direct(4)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {64, 64}), spec_of(QueueOrder::fifo, 2));
  driver.room = 2;
  driver.run(0, 5);
  CHECK(driver.issued.size() == 2);
  CHECK(driver.starts.size() == 2);
  CHECK(driver.engine.waits_for_ports());
  driver.room = 3;
  driver.evaluate(20);
  CHECK(driver.issued.size() == 5);
  CHECK(driver.engine.waits_for_ports());
  driver.room = 9;
  driver.evaluate(30);
  CHECK_FALSE(driver.engine.waits_for_ports());
  REQUIRE(driver.issued.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(driver.program.place_of(driver.issued[i].first.flow).stage.chunk == i / 3);
    CHECK(driver.issued[i].first.to == NodeId(1 + i % 3));
  }
  CHECK(driver.issued[1].second == 0);
  CHECK(driver.issued[2].second == 20);
  CHECK(driver.issued[5].second == 30);
  CHECK(driver.issued[5].first.ready == 1);  // when it could have been sent
}

TEST_CASE("A full injection queue of one dimension does not hold up another dimension") {
  const Dimensions dimensions{direct(4), direct(4)};
  DimensionPlan plan = plan_of(dimensions, kScatter, {64, 64});
  std::swap(plan.chunks[1].stages[0], plan.chunks[1].stages[1]);
  Driver driver(dimensions, plan, spec_of(QueueOrder::fifo));
  driver.full_dimension = 0;
  driver.run(0, 5);
  CHECK(driver.issued.size() == 3);
  CHECK(driver.program.place_of(driver.issued[0].first.flow).stage.chunk == 1);
  CHECK(driver.engine.waits_for_ports());
  driver.finish({1, 0}, 5);
  driver.full_dimension = kNoDimension;
  driver.evaluate(6);
  CHECK(driver.issued.size() == 6);
  CHECK_FALSE(driver.engine.waits_for_ports());
}

TEST_CASE("Transfers of no bytes are left out, and a stage of nothing else passes by itself") {
  const Dimensions dimensions{direct(2), direct(2)};
  // One element, which node 3 owns: in dim1 node 0 gives its copy away, in dim2 it has none.
  Driver driver(dimensions, plan_of(dimensions, kReduce, {1}), spec_of(QueueOrder::fifo));
  driver.evaluate(0);
  REQUIRE(driver.issued.size() == 1);
  CHECK(driver.issued[0].first.bytes == 4);
  driver.leave({0, 0}, 10);
  CHECK(driver.ends.size() == 1);
  CHECK(driver.evaluate(11) == 12);
  CHECK(driver.evaluate(12) == 13);
  driver.evaluate(13);
  const std::vector<std::pair<StageRef, Cycle>> ends{{{0, 0}, 10}, {{0, 1}, 11}, {{0, 2}, 12}};
  CHECK(driver.ends == ends);
  CHECK(driver.issued.size() == 1);
  CHECK_FALSE(driver.engine.done());
  driver.arrive({0, 3}, 20);
  CHECK(driver.engine.done());
}

TEST_CASE("A place that a stage without bytes leaves is taken in the next cycle") {
  const Dimensions dimensions{direct(2)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {0, 0, 8}), spec_of(QueueOrder::fifo));
  CHECK(driver.evaluate(0) == 1);
  CHECK(driver.evaluate(1) == 2);
  driver.evaluate(2);
  CHECK(driver.started_at({2, 0}) == 2);
}

TEST_CASE("An enforced order is kept though something else is ready") {
  const Dimensions dimensions{direct(2), direct(2)};
  DimensionPlan plan = plan_of(dimensions, kScatter, {8, 8});
  std::swap(plan.chunks[1].stages[0], plan.chunks[1].stages[1]);
  // Chunk 1 begins in dim2, whose turn is chunk 0's.
  plan.start_order = {{{0, 0}, {1, 1}}, {{0, 1}, {1, 0}}};
  Driver driver(dimensions, plan, spec_of(QueueOrder::fifo, 4));
  CHECK(driver.evaluate(0) == kNever);
  driver.run(1, 20);
  CHECK(driver.starts.size() == 1);
  CHECK(driver.engine.queued(1) == 1);
  CHECK_FALSE(driver.engine.timer_running(20));
  driver.finish({0, 0}, 20);
  CHECK(driver.evaluate(21) == 22);
  CHECK(driver.started_at({0, 1}) == 21);
  driver.evaluate(22);
  CHECK(driver.started_at({1, 0}) == 22);
  driver.finish({0, 1}, 30);
  driver.finish({1, 0}, 30);
  driver.evaluate(31);
  CHECK(driver.started_at({1, 1}) == 31);
  driver.finish({1, 1}, 40);
  CHECK(driver.engine.done());
}

TEST_CASE("An enforced order overrides size and arrival") {
  for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::scf}) {
    const Dimensions dimensions{direct(3)};
    DimensionPlan plan = plan_of(dimensions, kScatter, {9, 90, 30});
    plan.start_order = {{{1, 0}, {2, 0}, {0, 0}}};
    Driver driver(dimensions, plan, spec_of(order));
    run_one_by_one(driver);
    CHECK(driver.chunks_in_start_order() == Chunks{1, 2, 0});
  }
}

TEST_CASE("Stages that become ready in one cycle queue in ascending chunk number") {
  const Dimensions dimensions{direct(2), direct(2)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {8, 8, 8}), spec_of(QueueOrder::fifo, 3));
  driver.run(0, 9);
  for (const std::uint32_t chunk : {2U, 0U, 1U}) driver.finish({chunk, 0}, 9);
  driver.readies.clear();
  driver.run(10, 20);
  const std::vector<std::pair<StageRef, Cycle>> readies{{{0, 1}, 10}, {{1, 1}, 10}, {{2, 1}, 10}};
  CHECK(driver.readies == readies);
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk) {
    CHECK(driver.started_at({chunk, 1}) == 10 + chunk);
  }
}

TEST_CASE("An operation says what, where to and over how many links") {
  const Dimensions dimensions{ring(2), halving(4, 3)};
  Driver driver(dimensions, plan_of(dimensions, kReduce, {64}), spec_of(QueueOrder::fifo), 3);
  driver.evaluate(0);
  REQUIRE(driver.issued.size() == 2);
  for (const std::uint32_t lane : {0U, 1U}) {
    const Operation& operation = driver.issued[lane].first;
    CHECK(operation.from == NodeId(3));
    CHECK(operation.to == NodeId(2));
    CHECK(operation.stripes == 1);
    CHECK(operation.bytes == 16 * kElement);  // a quarter of the chunk
    CHECK(operation.on_arrival == TransferKind::reduce);
    CHECK(operation.num_chunks == 4);
    CHECK(driver.program.place_of(operation.flow).lane == lane);
  }
  CHECK(driver.issued[0].first.route != driver.issued[1].first.route);
  driver.leave({0, 0}, 5);
  driver.arrive({0, 0}, 5, 0, 0);
  driver.arrive({0, 0}, 5, 0, 1);
  driver.issued.clear();
  driver.evaluate(6);
  REQUIRE(driver.issued.size() == 1);
  CHECK(driver.issued[0].first.stripes == 3);
  CHECK(driver.issued[0].first.to == NodeId(1 + 2 * 3));  // x2: 1 to 3
}

TEST_CASE(
    "The watchdog's report names the NPU that a stage waits for and the reason why a chunk waits") {
  const Dimensions dimensions{direct(2), direct(3)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {12, 12}), spec_of(QueueOrder::fifo), 1);
  driver.run(0, 5);
  CHECK_THAT(driver.explained(),
             Contains("ni_1.chunk0 > ni_0.chunk0: reduce_scatter on dimension 1 waits for step 1 "
                      "from node 0"));
  CHECK_THAT(
      driver.explained(),
      Contains("ni_1.chunk1 > ni_1.chunk0: dimension 1 already has 1 stage in flight, its limit"));
}

TEST_CASE("The watchdog's report names the NPUs that have not sent and no others") {
  const Dimensions dimensions{direct(4)};
  Driver driver(dimensions, plan_of(dimensions, kScatter, {12}), spec_of(QueueOrder::fifo));
  driver.evaluate(0);
  Operation from_2 = driver.incoming({0, 0});
  from_2.from = NodeId(2);
  driver.engine.completed(from_2, 5);
  CHECK_THAT(driver.explained(),
             Contains("from node 1") && Contains("from node 3") && !Contains("from node 2"));
}

TEST_CASE("The watchdog's report names the chunk that an enforced order waits for") {
  const Dimensions dimensions{direct(2), direct(2)};
  DimensionPlan plan = plan_of(dimensions, kScatter, {8, 8});
  std::swap(plan.chunks[1].stages[0], plan.chunks[1].stages[1]);
  plan.start_order = {{{0, 0}, {1, 1}}, {{0, 1}, {1, 0}}};
  Driver driver(dimensions, plan, spec_of(QueueOrder::fifo, 4));
  driver.run(0, 5);
  CHECK_THAT(driver.explained(),
             Contains("ni_0.dim2 > ni_0.chunk0: the start order of dimension 2 has chunk 0 next"));
  CHECK_THAT(driver.explained(),
             Contains("ni_0.chunk1 > ni_0.dim2: another chunk is next in dimension 2"));
}

TEST_CASE("Flow ids name stage, lane and step and nothing else") {
  const Dimensions dimensions{ring(5), halving(4), direct(2)};
  const Driver driver(dimensions, plan_of(dimensions, kReduce, {64, 64, 64}),
                      spec_of(QueueOrder::fifo));
  std::map<FlowId, int> seen;
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk) {
    for (std::uint32_t stage = 0; stage < 6; ++stage) {
      const StageSteps& steps =
          driver.program.steps_of(driver.program.stage({chunk, stage}).dimension);
      for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
        for (std::uint32_t step = 0; step < steps.steps(); ++step) {
          const FlowId flow = driver.program.flow_of({{chunk, stage}, lane, step});
          CHECK(++seen[flow] == 1);
          const StagePlace place = driver.program.place_of(flow);
          CHECK(place.stage == StageRef{chunk, stage});
          CHECK(place.lane == lane);
          CHECK(place.step == step);
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier
