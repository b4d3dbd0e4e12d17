#include "sims/experiment/workload_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/topology/link_timing.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_workload.h"
#include "sims/model/plan_forecast.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

namespace {

// Appends entry `d` of a list; an empty list means "auto".
template <class T>
void keep(std::vector<T>& list, const std::vector<T>& all, std::size_t d) {
  if (!all.empty()) list.push_back(all[d]);
}

// The group's part of the system: its dimensions, each with the group's size there.
SystemConfig system_of(const SystemConfig& system, const LogicalGroup& group) {
  const DimensionsConfig& all = system.dimensions;
  SystemConfig part = system;
  part.topology.type = family_of(Family::Source::dimensions);
  DimensionsConfig& kept = part.dimensions;
  kept = {};
  kept.packet_flits = all.packet_flits;
  for (const GroupDimension& of_group : group) {
    const std::size_t d = of_group.dimension;
    keep(kept.shape, all.shape, d);
    keep(kept.size, all.size, d);
    keep(kept.links, all.links, d);
    keep(kept.bytes_per_second, all.bytes_per_second, d);
    keep(kept.latency_ps, all.latency_ps, d);
    keep(kept.flit_bytes, all.flit_bytes, d);
    keep(kept.vc_depth_flits, all.vc_depth_flits, d);
    keep(kept.algorithm, all.algorithm, d);
    kept.size.back() = of_group.size;
    // A fully connected dimension keeps the links to NPUs of the group.
    const bool has_links = !kept.links.empty() && kept.links.back() != 0;
    if (has_links && kept.shape.back() == DimensionShape::fully_connected) {
      kept.links.back() = kept.links.back() / (all.size[d] - 1) * (of_group.size - 1);
    }
  }
  return part;
}

std::unique_ptr<const WorkloadPlan> plan_operation(const CommunicationOp& op, RunPoint point,
                                                   const Choices& choices) {
  Topology topology = make_dimensions(dimension_specs(point.system));
  ForecastPlan planned = plan_point(topology, point, choices);
  return std::make_unique<const WorkloadPlan>(
      WorkloadPlan{op, std::move(point), std::move(topology), std::move(planned)});
}

const char* npus_of(CommunicationScope scope) {
  switch (scope) {
    case CommunicationScope::model:
      return "the NPUs of a model-parallel group";
    case CommunicationScope::data:
      return "the NPUs of a data-parallel group";
    case CommunicationScope::all:
      break;
  }
  return "all NPUs";
}

}  // namespace

ParallelGroups workload_groups(const Topology& topology, const RunPoint& point) {
  return split_groups(topology.dimensions()->dimensions, model_npus_of(*point.workload));
}

std::vector<std::unique_ptr<const WorkloadPlan>> plan_workload(const RunPoint& point,
                                                               const ParallelGroups& groups,
                                                               const Workload& workload,
                                                               const Choices& choices) {
  std::vector<std::unique_ptr<const WorkloadPlan>> plans;
  for (const Communication& communication : workload.communications) {
    const CommunicationOp& op = communication.op;
    const LogicalGroup& group = groups.of(op.scope);
    if (op.op == CollectiveOp::all_to_all || op.bytes == 0 || group.empty()) continue;
    const auto known =
        std::find_if(plans.begin(), plans.end(), [&](const auto& plan) { return plan->op == op; });
    if (known != plans.end()) continue;
    RunPoint alone = point;
    alone.workload.reset();
    alone.system = system_of(point.system, group);
    alone.collective->op = op.op;
    alone.collective->size = op.bytes;
    alone.collective->element_bytes = WorkloadSpec{}.element_bytes;
    alone.collective->parts = PartSizes::equal;
    plans.push_back(plan_operation(op, std::move(alone), choices));
  }
  return plans;
}

std::string describe(const CommunicationOp& op) {
  return fmt::format("{} of {} B over {}", to_string(op.op), op.bytes, npus_of(op.scope));
}

CostSystem cost_system(const Topology& topology, const RunPoint& point) {
  CostSystem system;
  system.dimensions = topology.dimensions()->dimensions;
  system.planned = planned_dimensions(point.system);
  system.forecast = forecast_spec(topology, point, system.planned);
  system.cycle_ns = nanoseconds(1, point.system.clock);
  return system;
}

}  // namespace espalier
