// Training iterations on a multi-dimensional system, every collective simulated.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "sims/choose/certify_point.h"
#include "sims/experiment/describe_outcome.h"
#include "sims/experiment/point_run.h"
#include "sims/experiment/workload_plans.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_workload.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/enum_names.h"
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

Json describe_timeline(const TrainingTimeline& timeline, const TrainingTimeline& ideal) {
  Json training;
  training["forward_ns"] = timeline.forward;
  training["backward_ns"] = timeline.backward;
  training["compute_ns"] = timeline.compute();
  training["exposed_data_ns"] = timeline.exposed_data;
  training["exposed_model_ns"] = timeline.exposed_model;
  training["exposed_ns"] = timeline.exposed();
  training["communication_ns"] = timeline.communication;
  training["ideal_exposed_ns"] = ideal.exposed();
  training["ideal_total_ns"] = ideal.total();
  return training;
}

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
    const WorkloadConfig& config = *point().workload;
    result["workload"] = workload_.name;
    result["algorithm"] = point().collective->algorithm;
    result["topology"] = topology().name();
    result["nodes"] = topology().num_nodes();
    result["model_npus"] = num_npus(groups_.model);
    result["data_npus"] = num_npus(groups_.data);
    result["iterations"] = config.iterations;
    result["exchange"] = name_of(config.exchange);
    result["queue_order"] = name_of(arbiter_spec(point()).order);
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
    if (!choice_.empty()) result["choice"] = choice_;
    result["time_ns"] = timeline_.total();
    result["iteration"] = describe_timeline(timeline_, ideal_);
    // Share of the bandwidth while some communication is in flight (Themis, section 3, Fig. 4).
    result["utilization"] =
        timeline_.communication == 0 ? 0.0 : ideal_.communication / timeline_.communication;
    describe_verdict(result, outcome);
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
