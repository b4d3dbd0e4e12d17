#include "sims/workload/training/dimension_cost.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "alg/plans/planner.h"

namespace espalier {

namespace {

// Bytes of an all_to_all that an NPU sends in one dimension.
double stage_bytes(Bytes bytes, std::uint32_t size) {
  return static_cast<double>(bytes) * (size - 1) / size;
}

// Every chunk passes the dimensions one after the other. In the slowest dimension, chunks queue.
double all_to_all_ns(Bytes bytes, const std::vector<PlannedDimension>& dimensions,
                     std::uint32_t chunks) {
  double of_one_chunk = 0;
  double slowest = 0;
  for (const PlannedDimension& d : dimensions) {
    const double stage =
        stage_bytes(bytes, d.size) / static_cast<double>(d.bytes_per_second) * 1e9 / chunks;
    of_one_chunk += stage + static_cast<double>(d.step_latency_ps) / 1e3;
    slowest = std::max(slowest, stage);
  }
  return of_one_chunk + slowest * (chunks - 1);
}

PlanRequest request_for(const CommunicationOp& op, PlanRequest request) {
  request.op = op.op;
  request.size = op.bytes;
  return request;
}

}  // namespace

std::vector<PlannedDimension> planned_for(const LogicalGroup& group,
                                          const std::vector<DimensionSpec>& dimensions,
                                          const std::vector<PlannedDimension>& planned) {
  std::vector<PlannedDimension> result;
  for (const GroupDimension& part : group) {
    PlannedDimension dimension = planned[part.dimension];
    if (dimensions[part.dimension].shape == DimensionShape::fully_connected) {
      dimension.bytes_per_second =
          dimension.bytes_per_second / (dimension.size - 1) * (part.size - 1);
    }
    dimension.size = part.size;
    result.push_back(dimension);
  }
  return result;
}

double IdealCost::nanoseconds(const CommunicationOp& op) {
  const std::vector<PlannedDimension> planned =
      planned_for(groups_.of(op.scope), system_.dimensions, system_.planned);
  if (planned.empty() || op.bytes == 0) return 0;
  if (op.op != CollectiveOp::all_to_all) {
    PlanRequest request;
    request.element_bytes = 1;
    request.chunks = 1;
    return ideal_seconds(plan_baseline(planned, request_for(op, request))) * 1e9;
  }
  double bytes = 0;
  double bandwidth = 0;
  for (const PlannedDimension& d : planned) {
    bytes += stage_bytes(op.bytes, d.size);
    bandwidth += static_cast<double>(d.bytes_per_second);
  }
  return bytes / bandwidth * 1e9;
}

ForecastCost::ForecastCost(const CostSystem& system, const ParallelGroups& groups,
                           std::string algorithm, PlanRequest request)
    : system_(system), groups_(groups), algorithm_(std::move(algorithm)), request_(request) {
  if (find_planner(algorithm_) == nullptr) {
    throw std::invalid_argument("'" + algorithm_ + "' is not a planner of dimensions");
  }
}

double ForecastCost::nanoseconds(const CommunicationOp& op) {
  const std::tuple key{op.op, op.bytes, op.scope};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(key, forecast(op)).first->second;
}

double ForecastCost::forecast(const CommunicationOp& op) const {
  const LogicalGroup& group = groups_.of(op.scope);
  const std::vector<PlannedDimension> planned =
      planned_for(group, system_.dimensions, system_.planned);
  if (planned.empty() || op.bytes == 0) return 0;
  if (op.op == CollectiveOp::all_to_all) return all_to_all_ns(op.bytes, planned, request_.chunks);
  ForecastSpec spec = system_.forecast;
  spec.dimensions.clear();
  for (const GroupDimension& part : group) {
    spec.dimensions.push_back(system_.forecast.dimensions[part.dimension]);
  }
  const ForecastPlan plan =
      forecast_plan(*find_planner(algorithm_), planned, request_for(op, request_), spec);
  return static_cast<double>(plan.forecast) * system_.cycle_ns;
}

}  // namespace espalier
