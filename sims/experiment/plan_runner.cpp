#include "sims/experiment/plan_runner.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "alg/bounds/dimension_bound.h"
#include "alg/certify/certify_dimension_plan.h"
#include "alg/plans/planner.h"
#include "sims/config/resolved.h"
#include "sims/experiment/describe_activity.h"
#include "sims/experiment/describe_cost.h"
#include "sims/experiment/describe_outcome.h"
#include "sims/model/build_dimensions.h"
#include "sims/observe/explain/run_account.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

void describe_plan(Json& result, const Topology& topology, const RunPoint& point,
                   const ForecastPlan& planned) {
  const DimensionQueueConfig& queue = point.system.ni.dimension_queue;
  result["algorithm"] = planned.plan.algorithm;
  result["op"] = to_string(planned.plan.op);
  result["topology"] = topology.name();
  result["nodes"] = topology.num_nodes();
  result["size_bytes"] = planned.plan.size;
  result["chunks"] = planned.plan.chunks.size();
  result["queue_order"] = name_of(queue.arbiter.order);
  if (queue.in_flight == 0) {
    result["in_flight"] = "auto";
  } else {
    result["in_flight"] = queue.in_flight;
  }
  result["flow_control"] = name_of(point.system.flow_control.mode);
  result["fidelity"] = name_of(chosen_fidelity(point));
  result["forecast_cycles"] = planned.forecast;
}

// Per dimension, and weighted by bandwidth (Themis, section 3): payload alone, so never above 1.
void describe_dimensions(Json& result, const Topology& topology, const RunPoint& point,
                         const DimensionPlan& plan, const PlanOutcome& outcome) {
  const double seconds = nanoseconds(outcome.simulation.cycles, point.system.clock) / 1e9;
  const auto nodes = static_cast<double>(topology.num_nodes());
  double all_bytes = 0;
  double all_rates = 0;
  Json dimensions;
  for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
    const DimensionSpec& spec = topology.dimensions()->dimensions[d];
    const auto bytes = static_cast<double>(outcome.bytes_sent[d]) / nodes;
    const auto rate = static_cast<double>(spec.bytes_per_second());
    Json& dimension = dimensions[fmt::format("dim{}", d + 1)];
    dimension["shape"] = name_of(spec.shape);
    dimension["size"] = spec.size;
    dimension["algorithm"] = to_string(plan.dimensions[d].algorithm);
    dimension["bandwidth_GBps"] = rate / 1e9;
    dimension["flit_bytes"] = spec.link.flit_bytes;
    dimension["bytes_per_node"] = bytes;
    dimension["planned_bytes_per_node"] = bytes_sent_on(plan, d);
    dimension["utilization"] = seconds == 0 ? 0.0 : bytes / (seconds * rate);
    all_bytes += bytes;
    all_rates += rate;
  }
  result["utilization"] = seconds == 0 ? 0.0 : all_bytes / (seconds * all_rates);
  result["dimensions"] = std::move(dimensions);
}

void describe_plan_bound(Json& result, const Topology& topology, const RunPoint& point,
                         const DimensionPlan& plan, const SimulationOutcome& outcome) {
  const double time_ns = nanoseconds(outcome.cycles, point.system.clock);
  const CollectiveBound bound = dimension_bound(*topology.dimensions(), plan);
  const double bound_ns = bound.seconds * 1e9;
  result["bandwidth_GBps"] = time_ns == 0 ? 0.0 : static_cast<double>(plan.size) / time_ns;
  result["bound_ns"] = bound_ns;
  result["bound_ratio"] = time_ns == 0 ? 0.0 : bound_ns / time_ns;
  result["bound_binding"] = bound.binding;
  // Bytes / total bandwidth: what the paper calls Ideal, whether or not it can be reached.
  result["ideal_ns"] = ideal_seconds(plan) * 1e9;
}

}  // namespace

ForecastPlan plan_point(const Topology& topology, const RunPoint& point) {
  const Planner& planner = *find_planner(point.collective->algorithm);
  ForecastPlan planned;
  planned.plan = planner.plan(planned_dimensions(point.system), plan_request(*point.collective));
  Forecast forecast = forecast_order(planned.plan, forecast_spec(topology, point, planned.plan));
  planned.forecast = forecast.cycles;
  if (point.system.ni.dimension_queue.enforce_order) {
    planned.plan.start_order = std::move(forecast.start_order);
  }
  return planned;
}

std::vector<Violation> certify_plan(const RunPoint& point, const DimensionPlan& plan) {
  return certify_dimension_plan(plan, point.system.ni.dimension_queue.flight().places);
}

PointReport run_plan(const Topology& topology, const RunPoint& point, const SimulationHooks& hooks,
                     RunAccount* account) {
  const auto begin = std::chrono::steady_clock::now();
  PointReport report;
  const ForecastPlan planned = plan_point(topology, point);
  describe_plan(report.result, topology, point, planned);
  report.result["config_hash"] = config_hash(point);
  report.result["certified"] = nullptr;
  if (point.simulation.check) {
    const std::vector<Violation> violations = certify_plan(point, planned.plan);
    // Without an order of starts that all keep to, NPUs may wait for each other for ever.
    if (point.system.ni.dimension_queue.enforce_order || !violations.empty()) {
      report.result["certified"] = violations.empty();
    }
    if (!violations.empty()) return refused(std::move(report), violations);
  }
  const PlanOutcome outcome = simulate_plan(topology, point, planned.plan, hooks);
  describe_outcome(report.result, point, outcome.simulation);
  report.result["folded"] = outcome.folded;
  // One NPU's messages never meet in a switch. A list of messages needs all NPUs, but must not
  // change the result.
  if (outcome.foldable) report.result["link_conflicts"] = nullptr;
  report.result["parts"] = name_of(outcome.equal_parts ? PartSizes::equal : PartSizes::exact);
  describe_dimensions(report.result, topology, point, planned.plan, outcome);
  describe_activity(report.result, point, planned.plan, outcome.stages);
  describe_plan_bound(report.result, topology, point, planned.plan, outcome.simulation);
  describe_cost(report.result, topology, point, outcome.simulation, configured_need(point),
                outcome.folded);
  if (account != nullptr && outcome.simulation.complete) {
    report.result["explanation"] =
        account->explain_plan(topology, point, planned.plan, outcome.folded);
  }
  const double simulated = outcome.folded ? 1.0 / static_cast<double>(topology.num_nodes()) : 1.0;
  finish(report, outcome.simulation, begin, simulated);
  return report;
}

}  // namespace espalier
