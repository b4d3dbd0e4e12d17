#include "sims/experiment/workload_runner.h"

#include "sims/config/resolved.h"
#include "sims/experiment/cost_system.h"
#include "sims/experiment/describe_cost.h"
#include "sims/experiment/simulated_cost.h"
#include "sims/experiment/workload_plans.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_workload.h"
#include "sims/point/enum_names.h"
#include "sims/workload/training/dimension_cost.h"
#include "sims/workload/training/timeline.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

PointReport run_workload(const Topology& topology, const RunPoint& point) {
  const WorkloadConfig& config = *point.workload;
  const Workload workload = build_workload(config);
  const CostSystem system = cost_system(topology, point);
  const ParallelGroups groups = workload_groups(topology, point);
  PlanRequest request = plan_request(*point.collective);
  request.element_bytes = WorkloadSpec{}.element_bytes;
  ForecastCost forecast(system, groups, point.collective->algorithm, request);
  IdealCost ideal(system, groups);
  SimulatedCost simulated(point, groups, workload, forecast);
  const TrainingTimeline timeline = run_timeline(workload, groups, simulated, config.iterations);
  const TrainingTimeline best = run_timeline(workload, groups, ideal, config.iterations);

  PointReport report;
  Json& result = report.result;
  result["workload"] = workload.name;
  result["algorithm"] = point.collective->algorithm;
  result["topology"] = topology.name();
  result["nodes"] = topology.num_nodes();
  result["model_npus"] = num_npus(groups.model);
  result["data_npus"] = num_npus(groups.data);
  result["iterations"] = config.iterations;
  result["exchange"] = name_of(config.exchange);
  result["queue_order"] = name_of(point.system.ni.dimension_queue.arbiter.order);
  result["config_hash"] = config_hash(point);
  result["time_ns"] = timeline.total();
  result["iteration"] = describe_timeline(timeline, best);
  // Of the bandwidth while something is under way (section 3, Fig. 4).
  result["utilization"] =
      timeline.communication == 0 ? 0.0 : best.communication / timeline.communication;
  result["area"] = describe_area(price_system(point.system, topology, configured_need(point)),
                                 point.system, topology, AreaDetail::largest_kind);
  report.failure = simulated.failure();
  result["verified"] = report.failure.empty();
  if (!report.failure.empty()) result["failure"] = report.failure;
  return report;
}

}  // namespace espalier
