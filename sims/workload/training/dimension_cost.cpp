#include "sims/workload/training/dimension_cost.h"

#include <algorithm>

namespace espalier {

namespace {

// Bytes of an all_to_all that an NPU sends in one dimension.
double stage_bytes(Bytes bytes, std::uint32_t size) {
  return static_cast<double>(bytes) * (size - 1) / size;
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

double ideal_ns(const CommunicationOp& op, const LogicalGroup& group, const CostSystem& system) {
  const std::vector<PlannedDimension> planned =
      planned_for(group, system.dimensions, system.planned);
  if (planned.empty() || op.bytes == 0) return 0;
  if (op.op != CollectiveOp::all_to_all) {
    PlanRequest request;
    request.op = op.op;
    request.size = op.bytes;
    request.element_bytes = 1;
    request.chunks = 1;
    return ideal_seconds(plan_baseline(planned, request)) * 1e9;
  }
  double bytes = 0;
  double bandwidth = 0;
  for (const PlannedDimension& d : planned) {
    bytes += stage_bytes(op.bytes, d.size);
    bandwidth += static_cast<double>(d.bytes_per_second);
  }
  return bytes / bandwidth * 1e9;
}

// In the slowest dimension, chunks queue.
double all_to_all_ns(Bytes bytes, const LogicalGroup& group, const CostSystem& system,
                     std::uint32_t chunks) {
  double of_one_chunk = 0;
  double slowest = 0;
  for (const PlannedDimension& d : planned_for(group, system.dimensions, system.planned)) {
    const double stage =
        stage_bytes(bytes, d.size) / static_cast<double>(d.bytes_per_second) * 1e9 / chunks;
    of_one_chunk += stage + static_cast<double>(d.step_latency_ps) / 1e3;
    slowest = std::max(slowest, stage);
  }
  return of_one_chunk + slowest * (chunks - 1);
}

}  // namespace espalier
