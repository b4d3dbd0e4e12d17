// All NIs of a small system at once, on a network that delivers when it likes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "dimension_cases.h"
#include "dimension_engine_support.h"

namespace espalier {
namespace {

using namespace espalier::test;

// All NIs of a system, with a network that delivers after random times.
class Machine {
 public:
  Machine(const Dimensions& dimensions, const DimensionPlan& plan,
          const DimensionQueueEngine::Spec& spec, std::mt19937& random)
      : topology_(make_dimensions(dimensions)),
        program_(topology_, plan, kElement, PartSizes::exact),
        random_(random) {
    for (std::size_t n = 0; n < plan.num_nodes(); ++n) {
      nodes_.push_back(std::make_unique<Node>(*this, program_, NodeId(n), spec));
    }
  }

  // Until nothing happens any more.
  void run() {
    for (now_ = 0; now_ < 10'000'000; ++now_) {
      const auto due = events_.equal_range(now_);
      for (auto event = due.first; event != due.second; ++event) deliver(event->second);
      events_.erase(due.first, due.second);
      bool has_more = !events_.empty();
      for (const auto& node : nodes_) {
        if (node->at > now_) continue;
        node->at = node->engine.evaluate(now_, *node);
        has_more = true;
      }
      for (const auto& node : nodes_) add_held(*node);
      for (const auto& node : nodes_) has_more |= node->at != kNever;
      if (!has_more) return;
    }
  }
  [[nodiscard]] bool done() const {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node->engine.done(); });
  }
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] const DimensionProgram& program() const { return program_; }

 private:
  struct Node : public BackEnd {
    Node(Machine& owner, const DimensionProgram& program, NodeId node,
         const DimensionQueueEngine::Spec& spec)
        : machine(owner), engine(program, node, spec) {}
    [[nodiscard]] bool reduction_idle(Cycle /*now*/) const override { return true; }
    [[nodiscard]] Cycle reduction_idle_at() const override { return 0; }
    [[nodiscard]] bool all_sent() const override { return true; }
    [[nodiscard]] bool has_ports_for(std::uint32_t) const override { return true; }
    [[nodiscard]] bool has_room(const Operation& /*operation*/) const override { return true; }
    void issue(const Operation& operation, Cycle /*now*/) override { machine.send(operation); }
    WorkTimes work(const LocalWork& /*work*/, Cycle now) override { return {now, now, now}; }

    Machine& machine;
    DimensionQueueEngine engine;
    Cycle at = 0;
    std::vector<Operation> held;
  };
  struct Event {
    Operation operation;
    bool arrives = false;
  };

  void send(const Operation& operation) {
    const Cycle leaves = now_ + 1 + pick(random_, 20);
    events_.insert({leaves, {operation, false}});
    events_.insert({leaves + 1 + pick(random_, 200), {operation, true}});
  }
  void deliver(const Event& event) {
    Node& from = *nodes_[event.operation.from.index()];
    Node& to = *nodes_[event.operation.to.index()];
    if (!event.arrives) {
      if (from.engine.sent(event.operation, now_)) from.at = now_ + 1;
    } else if (event.operation.on_arrival == TransferKind::reduce &&
               !to.engine.may_add(event.operation)) {
      to.held.push_back(event.operation);
    } else {
      complete(to, event.operation);
    }
  }
  void complete(Node& node, const Operation& operation) {
    ++delivered_;
    bytes_ += operation.bytes;
    if (node.engine.completed(operation, now_)) node.at = now_ + 1;
  }
  void add_held(Node& node) {
    const auto ready = std::stable_partition(
        node.held.begin(), node.held.end(),
        [&](const Operation& operation) { return !node.engine.may_add(operation); });
    const std::vector<Operation> adding(ready, node.held.end());
    node.held.erase(ready, node.held.end());
    for (const Operation& operation : adding) complete(node, operation);
  }

  Topology topology_;
  DimensionProgram program_;
  std::mt19937& random_;
  Cycle now_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::multimap<Cycle, Event> events_;
  std::uint64_t delivered_ = 0;
  Bytes bytes_ = 0;
};

DimensionSpec random_spec(std::mt19937& random) {
  switch (pick(random, 3)) {
    case 0:
      return ring(static_cast<std::uint32_t>(2 + pick(random, 3)));
    case 1:
      return direct(static_cast<std::uint32_t>(2 + pick(random, 3)));
    default:
      return halving(pick(random, 2) == 0 ? 2 : 4);
  }
}

TEST_CASE("With one order for all, NIs finish whatever the network's delays") {
  constexpr std::uint32_t kSeed = 20'251;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    Dimensions dimensions;
    for (std::size_t d = 1 + pick(random, 3); d > 0; --d) dimensions.push_back(random_spec(random));
    PlanRequest request = test::random_request(random);
    request.size = 4 * (1 + pick(random, 300));
    request.chunks = static_cast<std::uint32_t>(1 + pick(random, 8));
    DimensionPlan plan = plan_baseline(planned(dimensions), request);
    if (plan.num_nodes() > 40) continue;
    test::shuffle_orders(plan, random);
    ForecastSpec forecast = test::random_forecast_spec(plan, random);
    plan.start_order = forecast_order(plan, forecast).start_order;
    Machine machine(dimensions, plan, {forecast.arbiter, forecast.flight, 1 + pick(random, 3)},
                    random);
    machine.run();
    CHECK(machine.done());
    CHECK(machine.delivered() == machine.program().num_operations());
    CHECK(machine.bytes() == machine.program().total_bytes());
  }
}

TEST_CASE("Without one order NIs may wait for each other for ever") {
  constexpr std::uint32_t kSeed = 20'252;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  const Dimensions dimensions{direct(2), direct(2)};
  DimensionPlan plan = plan_of(dimensions, CollectiveOp::all_reduce, {8, 8, 8, 8, 8, 8, 8, 8});
  int stuck = 0;
  for (int i = 0; i < 50; ++i) {
    test::shuffle_orders(plan, random);
    Machine machine(dimensions, plan, spec_of(QueueOrder::scf), random);
    machine.run();
    stuck += machine.done() ? 0 : 1;
  }
  CHECK(stuck > 0);
}

}  // namespace
}  // namespace espalier
