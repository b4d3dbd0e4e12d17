#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "alg/bounds/bounds.h"
#include "alg/certify/certifier.h"
#include "alg/plans/planner.h"
#include "sims/choose/certify_point.h"
#include "sims/choose/choose.h"
#include "sims/experiment/result_parts.h"
#include "sims/experiment/result_register.h"
#include "sims/model/plan_forecast.h"
#include "sims/observe/explain/run_account.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

PlanOutcomeResult measured(const Topology& topology, const RunPoint& point,
                           const DimensionPlan& plan, const PlanOutcome& outcome) {
  PlanOutcomeResult result{outcome, 0, {}, {}};
  const double seconds = nanoseconds(outcome.simulation.cycles, point.system.clock) / 1e9;
  const auto nodes = static_cast<double>(topology.num_nodes());
  double all_bytes = 0;
  double all_rates = 0;
  for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
    const auto bytes = static_cast<double>(outcome.bytes_sent[d]) / nodes;
    result.dimensions.list.push_back({topology.dimensions()->dimensions[d],
                                      plan.dimensions[d].algorithm, bytes, bytes_sent_on(plan, d),
                                      seconds});
    all_bytes += bytes;
    all_rates += result.dimensions.list.back().rate();
  }
  result.utilization = quotient(all_bytes, seconds * all_rates);
  return result;
}

constexpr double kLongestPeriodNs = 100'000;
constexpr Cycle kFewestPeriods = 10;

struct Span {
  Cycle begin = 0;
  Cycle end = 0;
};

// The union of the spans, in order of time.
std::vector<Span> merged(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (result.empty() || span.begin > result.back().end) {
      result.push_back(span);
    } else {
      result.back().end = std::max(result.back().end, span.end);
    }
  }
  return result;
}

// A period is 100 us as in the paper; a run of fewer than ten periods takes a tenth of that, or a
// hundredth, and so on.
ActivityResult activity_of(const RunPoint& point, const DimensionPlan& plan,
                           const std::vector<StageSpan>& stages) {
  Cycle end = 0;
  for (const StageSpan& stage : stages) end = std::max(end, stage.end);
  if (end == 0) return {};
  const double ns_per_cycle = nanoseconds(1, point.system.clock);
  double period_ns = kLongestPeriodNs;
  while (period_ns > ns_per_cycle && static_cast<double>(end) * ns_per_cycle <
                                         period_ns * static_cast<double>(kFewestPeriods)) {
    period_ns /= 10;
  }
  const Cycle period = std::max<Cycle>(1, static_cast<Cycle>(period_ns / ns_per_cycle));
  ActivityResult activity{nanoseconds(period, point.system.clock), {}};
  for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
    std::vector<Span> spans;
    for (const StageSpan& stage : stages) {
      const bool here = plan.chunks[stage.stage.chunk].stages[stage.stage.stage].dimension == d;
      if (here) spans.push_back({stage.ready, stage.end});
    }
    std::vector<Cycle> active(end / period + 1, 0);
    for (const Span& span : merged(spans)) {
      for (Cycle at = span.begin; at < span.end;) {
        const Cycle until = std::min(span.end, (at / period + 1) * period);
        active[at / period] += until - at;
        at = until;
      }
    }
    std::vector<double>& rates = activity.shares.emplace_back();
    for (std::size_t p = 0; p < active.size(); ++p) {
      const Cycle length = std::min(period, end - p * period);  // the last one ends early
      if (length != 0) {
        rates.push_back(static_cast<double>(active[p]) / static_cast<double>(length));
      }
    }
  }
  return activity;
}

class PlanRun : public PointRun {
 public:
  explicit PlanRun(const PointInput& input)
      : PointRun(input), planned_(plan_point(input.topology, input.point, input.choices)) {}

  void describe(Json& result) const override {
    write_fields(result, PlanResult{facts(), planned_});
  }
  // Without an order of starts that all NPUs keep to, they may wait for each other for ever: such a
  // plan has no verdict, unless it is wrong.
  std::string certify(Json& result) override {
    Certified verdict;
    std::vector<Violation> violations;
    if (point().simulation.check) {
      violations = certify_plan(point(), planned_.plan);
      if (point().system.ni.dimension_queue.enforce_order || !violations.empty()) {
        verdict.certified = violations.empty();
      }
    }
    write_fields(result, verdict);
    return refusal(violations);
  }
  [[nodiscard]] bool has(RtlBlock block) const override {
    return block == RtlBlock::dimension_queue;
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    outcome_ = simulate_plan(topology(), point(), planned_.plan, hooks);
    return outcome_.simulation;
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    write_fields(result, SimulationResult{point(), outcome});
    PlanOutcomeResult plan = measured(topology(), point(), planned_.plan, outcome_);
    plan.activity = activity_of(point(), planned_.plan, outcome_.stages);
    // The messages of one NPU never meet in a switch. `--messages` needs all NPUs, but must not
    // change the result.
    if (outcome_.foldable) clear_void_fields(result, kFoldable);
    write_fields(result, plan);
  }
  [[nodiscard]] std::optional<RunBound> bound() const override {
    // The ideal time is bytes / total bandwidth, as in the paper, whether or not a plan can reach
    // it.
    return RunBound{planned_.plan.size,
                    dimension_bound(topology(), planned_.plan),
                    ideal_seconds(planned_.plan),
                    {},
                    {},
                    bus_factor(planned_.plan.op, topology().dimensions()->num_nodes())};
  }
  [[nodiscard]] RunNeed need() const override { return configured_need(point()); }
  [[nodiscard]] bool is_folded() const override { return outcome_.folded; }
  [[nodiscard]] Json explain(RunAccount& account, const SimulationOutcome&) const override {
    return account.explain_plan(topology(), point(), planned_.plan, outcome_.folded);
  }

 private:
  ForecastPlan planned_;
  PlanOutcome outcome_;
};

}  // namespace

nlohmann::ordered_json PlanResult::in_flight() const {
  const std::uint32_t stages = point.system.ni.dimension_queue.in_flight;
  return stages == 0 ? Json("auto") : Json(stages);
}

std::unique_ptr<PointRun> make_plan_run(const PointInput& input) {
  return std::make_unique<PlanRun>(input);
}

}  // namespace espalier
