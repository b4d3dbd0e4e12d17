#include "sims/experiment/simulated_cost.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "sims/experiment/workload_plans.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

namespace {

const SimulationHooks kNoHooks;

}  // namespace

SimulatedCost::SimulatedCost(const RunPoint& point, const ParallelGroups& groups,
                             const Workload& workload, ForecastCost& rest)
    : rest_(rest) {
  const auto plans = plan_workload(point, groups, workload);
  // All systems are made before any of them runs.
  std::vector<std::unique_ptr<PlanSimulation>> systems;
  for (const auto& plan : plans) {
    const auto violations = certify_plan(plan->point, plan->planned.plan);
    if (!violations.empty()) {
      failure_ = fmt::format("{}: {}", describe(plan->op), violations.front().what);
      return;
    }
    systems.push_back(std::make_unique<PlanSimulation>(plan->topology, plan->point,
                                                       plan->planned.plan, kNoHooks,
                                                       fmt::format("_{}", systems.size() + 1)));
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const SimulationOutcome outcome = systems[i]->run().simulation;
    const CommunicationOp& op = plans[i]->op;
    known_[Name{op.op, op.bytes, op.scope}] =
        espalier::nanoseconds(outcome.cycles, plans[i]->point.system.clock);
    if (!outcome.verified && failure_.empty()) {
      failure_ = fmt::format("{}: {}", describe(op), outcome.failure);
    }
  }
}

double SimulatedCost::nanoseconds(const CommunicationOp& op) {
  const auto found = known_.find({op.op, op.bytes, op.scope});
  return found == known_.end() ? rest_.nanoseconds(op) : found->second;
}

}  // namespace espalier
