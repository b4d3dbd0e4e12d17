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

// Simulates every different operation of a workload once, with the network to itself: on the
// dimensions of its group, one NPU for all. `rest` forecasts operations that no planner plans
// (all_to_all).
class SimulatedCost : public CollectiveCost {
 public:
  SimulatedCost(const RunPoint& point, const ParallelGroups& groups, const Workload& workload,
                const Choices& choices, ForecastCost& rest)
      : rest_(rest) {
    const auto plans = plan_workload(point, groups, workload, choices);
    for (const auto& plan : plans) {
      if (plan->planned.taken.empty()) continue;
      choice_ += fmt::format("{}{} for {}", choice_.empty() ? "" : ", ", plan->planned.taken,
                             describe(plan->op));
    }
    const SimulationHooks no_hooks;
    // All systems are made before any of them runs.
    std::vector<std::unique_ptr<PlanSimulation>> systems;
    for (const auto& plan : plans) {
      const auto violations = certify_plan(plan->point, plan->planned.plan);
      if (!violations.empty()) {
        outcome_.failure = fmt::format("{}: {}", describe(plan->op), violations.front().what);
        return;
      }
      systems.push_back(std::make_unique<PlanSimulation>(plan->topology, plan->point,
                                                         plan->planned.plan, no_hooks,
                                                         fmt::format("_{}", systems.size() + 1)));
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const SimulationOutcome outcome = systems[i]->run().simulation;
      const CommunicationOp& op = plans[i]->op;
      known_[Name{op.op, op.bytes, op.scope}] =
          espalier::nanoseconds(outcome.cycles, plans[i]->point.system.clock);
      outcome_.engine_seconds += outcome.engine_seconds;
      outcome_.flit_hops += outcome.flit_hops;
      outcome_.evaluations += outcome.evaluations;
      outcome_.stops += outcome.stops;
      if (!outcome.verified && outcome_.failure.empty()) {
        outcome_.failure = fmt::format("{}: {}", describe(op), outcome.failure);
      }
    }
    outcome_.verified = outcome_.failure.empty();
    outcome_.complete = outcome_.verified;
  }

  [[nodiscard]] double nanoseconds(const CommunicationOp& op) override {
    const auto found = known_.find({op.op, op.bytes, op.scope});
    return found == known_.end() ? rest_.nanoseconds(op) : found->second;
  }
  // The sum over all operations; `failure` of the first operation that is not verified.
  [[nodiscard]] const SimulationOutcome& outcome() const { return outcome_; }
  // Whose plans auto took; otherwise empty.
  [[nodiscard]] const std::string& choice() const { return choice_; }

 private:
  using Name = std::tuple<CollectiveOp, Bytes, CommunicationScope>;

  std::map<Name, double> known_;
  SimulationOutcome outcome_;
  std::string choice_;
  ForecastCost& rest_;
};

PlanRequest workload_request(const RunPoint& point) {
  PlanRequest request = plan_request(*point.collective);
  request.element_bytes = WorkloadSpec{}.element_bytes;
  return request;
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
    const std::uint32_t iterations = point().workload->iterations;
    ForecastCost forecast(system, groups_, point().collective->algorithm,
                          workload_request(point()));
    IdealCost ideal(system, groups_);
    SimulatedCost simulated(point(), groups_, workload_, choices_, forecast);
    choice_ = simulated.choice();
    timeline_ = run_timeline(workload_, groups_, simulated, iterations);
    ideal_ = run_timeline(workload_, groups_, ideal, iterations);
    return simulated.outcome();
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
  if (!input.point.workload->file.empty()) {
    throw std::invalid_argument("workload.file: no run executes traces yet");
  }
  return std::make_unique<WorkloadRun>(input);
}

}  // namespace espalier
