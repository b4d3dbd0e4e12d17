// A dimension plan as loaded into the NIs. All NIs share one.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/dimension_routes.h"
#include "alg/plans/dimension_stage.h"
#include "alg/plans/plan_layout.h"
#include "alg/plans/stage_arbiter.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/topology.h"

namespace espalier {

// The meaning of a flow id on the wire: a stage, and a lane and a step of this stage.
struct StagePlace {
  StageRef stage;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
};

class DimensionProgram {
 public:
  // `topology` and `plan` must outlive this object. Throws std::invalid_argument if there are more
  // steps than flow ids.
  DimensionProgram(const Topology& topology, const DimensionPlan& plan, Bytes element_bytes,
                   PartSizes parts);

  [[nodiscard]] const DimensionPlan& plan() const { return plan_; }
  [[nodiscard]] const DimensionedShape& shape() const { return shape_; }
  [[nodiscard]] const PlanLayout& layout() const { return layout_; }
  [[nodiscard]] const DimensionRoutes& routes() const { return routes_; }
  [[nodiscard]] const StageSteps& steps_of(std::size_t dimension) const {
    return steps_[dimension];
  }
  [[nodiscard]] const PlannedStage& stage(StageRef ref) const {
    return plan_.chunks[ref.chunk].stages[ref.stage];
  }
  [[nodiscard]] bool adds_in_switch(std::size_t dimension) const {
    return plan_.dimensions[dimension].algorithm == DimensionAlgorithm::in_network;
  }
  // The receiver of a message from `node` to its peer at coordinate `peer`: the peer, or the switch
  // that reduces and multicasts.
  [[nodiscard]] NodeId receiver(NodeId node, std::size_t dimension, std::uint32_t peer) const;
  // True if one simulated node stands for all nodes.
  [[nodiscard]] bool is_folded() const { return topology_.is_folded(); }
  [[nodiscard]] FlowId flow_of(const StagePlace& place) const;
  [[nodiscard]] StagePlace place_of(FlowId flow) const;
  // The number of operations that carry at least one byte, and their bytes. Counts all nodes
  // (folded: the one node) and the switches that reduce and multicast.
  [[nodiscard]] std::uint64_t num_operations() const { return num_operations_; }
  [[nodiscard]] Bytes total_bytes() const { return total_bytes_; }

 private:
  void count_operations(std::size_t nodes);

  const Topology& topology_;
  const DimensionPlan& plan_;
  const DimensionedShape& shape_;
  PlanLayout layout_;
  DimensionRoutes routes_;
  std::vector<StageSteps> steps_;  // by dimension
  std::uint32_t most_stages_ = 1;
  std::uint32_t most_steps_ = 1;
  std::uint64_t num_operations_ = 0;
  Bytes total_bytes_ = 0;
};

}  // namespace espalier
