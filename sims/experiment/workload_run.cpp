// Training iterations on a multi-dimensional system, every collective simulated.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "sims/choose/certify_point.h"
#include "sims/experiment/result_parts.h"
#include "sims/experiment/training_work.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_workload.h"
#include "sims/model/plan_forecast.h"
#include "sims/system/plan_simulation.h"
#include "sims/workload/training/dimension_cost.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/timeline.h"
#include "sims/workload/training/workload.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Of one operation: its scope decides the group. No other operation is the same.
using OperationName = std::tuple<CollectiveOp, Bytes, CommunicationScope>;

struct SimulatedOperations {
  std::map<OperationName, double> nanoseconds;
  SimulationOutcome outcome;  // sums; `failure` of the first operation that is not verified
  std::string choice;         // whose plans auto took; otherwise empty
};

// Simulates every different operation of a workload that has a plan once, with the network to
// itself: on the dimensions of its group, one NPU for all.
SimulatedOperations simulate_operations(const RunPoint& point, const ParallelGroups& groups,
                                        const Workload& workload, const Choices& choices) {
  SimulatedOperations result;
  SimulationOutcome& sum = result.outcome;
  const auto plans = plan_workload(point, groups, workload, choices);
  for (const auto& plan : plans) {
    if (plan->planned.taken.empty()) continue;
    result.choice += fmt::format("{}{} for {}", result.choice.empty() ? "" : ", ",
                                 plan->planned.taken, describe(plan->op));
  }
  const SimulationHooks no_hooks;
  // All systems are made before any of them runs.
  std::vector<std::unique_ptr<PlanSimulation>> systems;
  for (const auto& plan : plans) {
    const auto violations = certify_plan(plan->point, plan->planned.plan);
    if (!violations.empty()) {
      sum.failure = fmt::format("{}: {}", describe(plan->op), violations.front().what);
      return result;
    }
    systems.push_back(std::make_unique<PlanSimulation>(plan->topology, plan->point,
                                                       plan->planned.plan, no_hooks,
                                                       fmt::format("_{}", systems.size() + 1)));
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const SimulationOutcome outcome = systems[i]->run().simulation;
    const CommunicationOp& op = plans[i]->op;
    result.nanoseconds[{op.op, op.bytes, op.scope}] =
        nanoseconds(outcome.cycles, plans[i]->point.system.clock);
    sum.engine_seconds += outcome.engine_seconds;
    sum.flit_hops += outcome.flit_hops;
    sum.evaluations += outcome.evaluations;
    sum.stops += outcome.stops;
    if (!outcome.verified && sum.failure.empty()) {
      sum.failure = fmt::format("{}: {}", describe(op), outcome.failure);
    }
  }
  sum.complete = sum.verified = sum.failure.empty();
  return result;
}

class WorkloadRun : public PointRun {
 public:
  explicit WorkloadRun(const PointInput& input)
      : PointRun(input),
        workload_(build_workload(*point().workload)),
        groups_(workload_groups(topology(), point())),
        choices_(input.choices) {}

  void describe(Json& result) const override {
    write_fields(result, WorkloadResult{facts(), workload_, groups_});
  }
  [[nodiscard]] bool has(RtlBlock block) const override {
    return block == RtlBlock::dimension_queue;
  }
  SimulationOutcome simulate(const SimulationHooks&) override {
    const CostSystem system = cost_system(topology(), point());
    const SimulatedOperations known = simulate_operations(point(), groups_, workload_, choices_);
    choice_ = known.choice;
    if (!known.outcome.verified) return known.outcome;
    const std::uint32_t iterations = point().workload->iterations;
    const std::uint32_t chunks = plan_request(*point().collective).chunks;
    timeline_ = run_timeline(
        workload_, groups_,
        [&](const CommunicationOp& op) {
          const auto found = known.nanoseconds.find({op.op, op.bytes, op.scope});
          if (found != known.nanoseconds.end()) return found->second;
          return all_to_all_ns(op.bytes, groups_.of(op.scope), system, chunks);
        },
        iterations);
    ideal_ = run_timeline(
        workload_, groups_,
        [&](const CommunicationOp& op) { return ideal_ns(op, groups_.of(op.scope), system); },
        iterations);
    return known.outcome;
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    write_fields(result, WorkloadOutcome{{timeline_, ideal_}, outcome, choice_});
  }
  [[nodiscard]] RunNeed need() const override { return configured_need(point()); }
  [[nodiscard]] bool counts_energy() const override { return false; }

 private:
  Workload workload_;
  ParallelGroups groups_;
  const Choices& choices_;
  std::string choice_;  // of auto
  TrainingTimeline timeline_;
  TrainingTimeline ideal_;
};

}  // namespace

std::unique_ptr<PointRun> make_workload_run(const PointInput& input) {
  return std::make_unique<WorkloadRun>(input);
}

}  // namespace espalier
