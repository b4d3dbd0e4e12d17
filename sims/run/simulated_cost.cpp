#include "sims/run/simulated_cost.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "hw/topology.h"
#include "sims/config/build_dimensions.h"
#include "sims/run/plan_runner.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

namespace {

// Entry `d` of a list in which nothing stands for "auto".
template <class T>
void keep(std::vector<T>& list, const std::vector<T>& all, std::size_t d) {
  if (!all.empty()) list.push_back(all[d]);
}

// The system as the group sees it: its dimensions alone, as large as the group is there.
SystemConfig system_of(const SystemConfig& system, const LogicalGroup& group) {
  const DimensionsConfig& all = system.dimensions;
  SystemConfig part = system;
  part.topology.kind = TopologyKind::dimensions;
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
    // Of a fully connected dimension the links to the group.
    const bool has_links = !kept.links.empty() && kept.links.back() != 0;
    if (has_links && kept.shape.back() == DimensionShape::fully_connected) {
      kept.links.back() = kept.links.back() / (all.size[d] - 1) * (of_group.size - 1);
    }
  }
  return part;
}

// One operation, made before any of them runs.
struct Simulation {
  CommunicationOp op;
  RunPoint point;
  Topology topology;
  ForecastPlan planned;
  std::unique_ptr<PlanSimulation> system;

  Simulation(const CommunicationOp& what, RunPoint with)
      : op(what),
        point(std::move(with)),
        topology(make_dimensions(dimension_specs(point.system))),
        planned(plan_point(topology, point)) {}
};

const SimulationHooks kNoHooks;

}  // namespace

SimulatedCost::SimulatedCost(const RunPoint& point, const ParallelGroups& groups,
                             const Workload& workload, Bytes element_bytes, ForecastCost& rest)
    : rest_(rest) {
  std::vector<std::unique_ptr<Simulation>> simulations;
  for (const Communication& communication : workload.communications) {
    const CommunicationOp& op = communication.op;
    const LogicalGroup& group = groups.of(op.scope);
    if (op.op == CollectiveOp::all_to_all || op.bytes == 0 || group.empty()) continue;
    if (!known_.emplace(Name{op.op, op.bytes, op.scope}, 0.0).second) continue;
    RunPoint alone = point;
    alone.workload.reset();
    alone.system = system_of(point.system, group);
    alone.collective->op = op.op;
    alone.collective->size = op.bytes;
    alone.collective->element_bytes = element_bytes;
    alone.collective->parts = PartSizes::equal;
    simulations.push_back(std::make_unique<Simulation>(op, std::move(alone)));
    Simulation& made = *simulations.back();
    const auto violations = certify_plan(made.point, made.planned.plan);
    if (!violations.empty()) {
      failure_ = violations.front().what;
      return;
    }
    made.system =
        std::make_unique<PlanSimulation>(made.topology, made.point, made.planned.plan, kNoHooks,
                                         fmt::format("_{}", simulations.size()));
  }
  for (const auto& simulation : simulations) {
    const SimulationOutcome outcome = simulation->system->run().simulation;
    const CommunicationOp& op = simulation->op;
    known_[Name{op.op, op.bytes, op.scope}] =
        espalier::nanoseconds(outcome.cycles, simulation->point.system.clock);
    if (!outcome.verified) {
      failure_ = fmt::format("{} of {} bytes: {}", to_string(op.op), op.bytes, outcome.failure);
    }
  }
}

double SimulatedCost::nanoseconds(const CommunicationOp& op) {
  const auto found = known_.find({op.op, op.bytes, op.scope});
  return found == known_.end() ? rest_.nanoseconds(op) : found->second;
}

}  // namespace espalier
