#include "ni/engines/folded_replay.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>

#include "alg/plans/planner.h"

using Catch::Matchers::Contains;

namespace espalier {
namespace {

const LinkSpec kFoldedLink{100'000, 16'000'000'000, 16};

// 4 NPUs on a ring and 2 on a switch, as their first one sees them.
struct Folded {
  std::vector<DimensionSpec> specs;
  Topology topology;
  DimensionPlan plan;
  DimensionProgram program;

  explicit Folded(CollectiveOp op)
      : specs{{DimensionShape::ring, 4, 2, kFoldedLink},
              {DimensionShape::switched, 2, 1, kFoldedLink}},
        topology(make_folded(specs)),
        plan(planned(op)),
        program(topology, plan, 4, PartSizes::equal) {}

  static DimensionPlan planned(CollectiveOp op) {
    PlanRequest request;
    request.op = op;
    request.size = 4096;
    request.chunks = 2;
    return plan_baseline({{4, DimensionAlgorithm::ring, 32'000'000'000, 100'000},
                          {2, DimensionAlgorithm::halving_doubling, 16'000'000'000, 100'000}},
                         request);
  }

  // Every operation of the first NPU, in an order in which each may be sent.
  void for_each(const std::function<void(const Operation&)>& visit) const {
    for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
      for (std::uint32_t s = 0; s < plan.chunks[c].stages.size(); ++s) {
        const PlannedStage& stage = plan.chunks[c].stages[s];
        const StageSteps& steps = program.steps_of(stage.dimension);
        for (std::uint32_t step = 0; step < steps.steps(); ++step) {
          for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
            const StageSend send = steps.send(stage.kind, 0, lane, step, 0);
            Operation operation;
            operation.flow = program.flow_of({{c, s}, lane, step});
            operation.from = NodeId(0);
            operation.to = program.shape().peer(NodeId(0), stage.dimension, send.peer);
            visit(operation);
          }
        }
      }
    }
  }
};

TEST_CASE("What one NPU does for all ends with the right data at every NPU") {
  const auto op =
      GENERATE(CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather);
  const Folded system(op);
  FoldedReplay memory(system.program);
  std::vector<DataTag> data;
  system.for_each([&](const Operation& operation) {
    memory.read(operation, data);
    memory.write(operation, data);
  });
  CHECK(memory.check().empty());
}

TEST_CASE("An operation that is left out, or comes twice, leaves wrong data somewhere") {
  const auto op =
      GENERATE(CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather);
  const Folded system(op);
  std::size_t operations = 0;
  system.for_each([&](const Operation&) { ++operations; });
  std::vector<DataTag> data;
  for (std::size_t victim = 0; victim < operations; ++victim) {
    CAPTURE(victim);
    FoldedReplay without(system.program);
    FoldedReplay with_two(system.program);
    std::size_t next = 0;
    system.for_each([&](const Operation& operation) {
      const bool is_victim = next++ == victim;
      with_two.read(operation, data);
      with_two.write(operation, data);
      if (is_victim) with_two.write(operation, data);
      if (is_victim) return;
      without.read(operation, data);
      without.write(operation, data);
    });
    CHECK_THAT(without.check(), Contains("wrong data"));
    CHECK_THAT(with_two.check(), Contains("before any NPU or switch had sent them"));
  }
}

TEST_CASE("Data that are sent before they are complete are noticed") {
  const Folded system(CollectiveOp::all_reduce);
  FoldedReplay memory(system.program);
  std::vector<DataTag> data;
  // Everything is read at once, and written afterwards.
  system.for_each([&](const Operation& operation) { memory.read(operation, data); });
  system.for_each([&](const Operation& operation) { memory.write(operation, data); });
  CHECK_THAT(memory.check(), Contains("wrong data"));
}

// 3 NPUs on a switch that adds and copies, as their first one sees them.
struct FoldedSwitch {
  static constexpr std::uint32_t kNpus = 3;
  std::vector<DimensionSpec> specs;
  Topology topology;
  DimensionPlan plan;
  DimensionProgram program;

  explicit FoldedSwitch(CollectiveOp op)
      : specs{{DimensionShape::switched, kNpus, 1, kFoldedLink, 0, true}},
        topology(make_folded(specs)),
        plan(planned(op)),
        program(topology, plan, 4, PartSizes::equal) {}

  static DimensionPlan planned(CollectiveOp op) {
    PlanRequest request;
    request.op = op;
    request.size = 4096;
    request.chunks = 2;
    return plan_baseline({{kNpus, DimensionAlgorithm::in_network, 16'000'000'000, 100'000}},
                         request);
  }

  // A message of the first NPU to its switch, or back: of the block whose owner is `ahead` of it.
  [[nodiscard]] Operation message(StageRef stage, std::uint32_t ahead, bool from_switch) const {
    const NodeId the_switch(1);
    Operation operation;
    operation.flow = program.flow_of({stage, 0, 0});
    operation.from = from_switch ? the_switch : NodeId(0);
    operation.to = from_switch ? NodeId(0) : the_switch;
    const auto blocks = program.layout().blocks_at(stage, NodeId(0));
    operation.first_chunk = PlanLayout::part_of(blocks, {ahead, 1}, 0, 1).first;
    return operation;
  }

  // All of the collective, but for message `left_out`, where it counts them in the order of
  // sending.
  [[nodiscard]] std::string check_without(std::size_t left_out, std::size_t& count) const {
    FoldedReplay memory(program);
    std::vector<DataTag> data;
    const auto send = [&](DataMemory& from, DataMemory& to, const Operation& operation) {
      if (count++ == left_out) return;
      from.read(operation, data);
      to.write(operation, data);
    };
    AggregationMemory& switches = memory.switches();
    for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
      for (std::uint32_t s = 0; s < plan.chunks[c].stages.size(); ++s) {
        const bool reduces = plan.chunks[c].stages[s].kind == StageKind::reduce_scatter;
        for (std::uint32_t i = reduces ? 1 : 0; i < (reduces ? kNpus : 1); ++i) {
          send(memory, switches, message({c, s}, i, false));
        }
        for (std::uint32_t i = reduces ? 0 : 1; i < (reduces ? 1 : kNpus); ++i) {
          send(switches, memory, message({c, s}, i, true));
        }
        switches.release(program.flow_of({{c, s}, 0, 0}), ChunkId(0));
      }
    }
    return memory.check();
  }
};

TEST_CASE("What a switch adds and copies for one NPU ends with the right data at every NPU") {
  const auto op =
      GENERATE(CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather);
  const FoldedSwitch system(op);
  std::size_t messages = 0;
  CHECK(system.check_without(SIZE_MAX, messages).empty());
  for (std::size_t victim = 0; victim < messages; ++victim) {
    CAPTURE(victim);
    std::size_t count = 0;
    CHECK_FALSE(system.check_without(victim, count).empty());
  }
}

}  // namespace
}  // namespace espalier
