#include "ni/engines/dimension_program.h"

#include <algorithm>
#include <stdexcept>

namespace espalier {

namespace {
constexpr std::uint32_t kMostLanes = 2;
}  // namespace

DimensionProgram::DimensionProgram(const Topology& topology, const DimensionPlan& plan,
                                   Bytes element_bytes, PartSizes parts)
    : topology_(topology),
      plan_(plan),
      shape_(*topology.dimensions()),
      layout_(plan, shape_, element_bytes, parts),
      routes_(topology, plan.dimensions) {
  for (const PlannedDimension& dimension : plan.dimensions) {
    steps_.emplace_back(dimension.algorithm, dimension.size);
    most_steps_ = std::max(most_steps_, steps_.back().steps());
  }
  for (const PlannedChunk& chunk : plan.chunks) {
    most_stages_ = std::max(most_stages_, static_cast<std::uint32_t>(chunk.stages.size()));
  }
  const std::uint64_t flows =
      std::uint64_t{plan.chunks.size()} * most_stages_ * kMostLanes * most_steps_;
  if (flows >= FlowId().value()) throw std::invalid_argument("too many chunks for the flow ids");
  count_operations(topology.num_nodes());
}

FlowId DimensionProgram::flow_of(const StagePlace& place) const {
  const std::size_t stage = std::size_t{place.stage.chunk} * most_stages_ + place.stage.stage;
  return FlowId((stage * kMostLanes + place.lane) * most_steps_ + place.step);
}

StagePlace DimensionProgram::place_of(FlowId flow) const {
  StagePlace place;
  std::uint32_t rest = flow.value();
  place.step = rest % most_steps_;
  rest /= most_steps_;
  place.lane = rest % kMostLanes;
  rest /= kMostLanes;
  place.stage = {rest / most_stages_, rest % most_stages_};
  return place;
}

NodeId DimensionProgram::receiver(NodeId node, std::size_t dimension, std::uint32_t peer) const {
  if (!adds_in_switch(dimension)) return shape_.peer(node, dimension, peer);
  const RouteId up = routes_.bundle(node, dimension, 0, peer).first;
  return topology_.link(routes_.routes().link(up, 0)).to;
}

void DimensionProgram::count_operations(std::size_t nodes) {
  for (std::size_t n = 0; n < nodes; ++n) {
    const NodeId node(n);
    for (std::uint32_t c = 0; c < plan_.chunks.size(); ++c) {
      for (std::uint32_t s = 0; s < plan_.chunks[c].stages.size(); ++s) {
        const PlannedStage& stage = plan_.chunks[c].stages[s];
        const StageSteps& steps = steps_[stage.dimension];
        const std::uint32_t self = shape_.coordinate(node, stage.dimension);
        const auto blocks = layout_.blocks_at({c, s}, node);
        const auto count = [&](BlockRange range, std::uint32_t lane) {
          const Bytes bytes =
              layout_.bytes(PlanLayout::part_of(blocks, range, lane, steps.lanes()));
          num_operations_ += bytes != 0 ? 1 : 0;
          total_bytes_ += bytes;
        };
        for (std::uint32_t step = 0; step < steps.steps(); ++step) {
          // The switch sends each block that a node receives from it.
          const std::uint32_t from_switch =
              adds_in_switch(stage.dimension) ? steps.num_receives(stage.kind, step) : 0;
          for (std::uint32_t i = 0; i < from_switch; ++i) {
            count(steps.receive(stage.kind, self, 0, step, i).blocks, 0);
          }
          for (std::uint32_t i = 0; i < steps.num_sends(stage.kind, step); ++i) {
            for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
              count(steps.send(stage.kind, self, lane, step, i).blocks, lane);
            }
          }
        }
      }
    }
  }
}

}  // namespace espalier
