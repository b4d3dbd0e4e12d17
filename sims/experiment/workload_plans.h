// The collectives of a training workload, each planned on the dimensions of its group.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/choose/choose.h"
#include "sims/point/config.h"
#include "sims/workload/training/dimension_cost.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// One operation alone on the network: on the dimensions of its group, each with the group's size
// there.
struct WorkloadPlan {
  CommunicationOp op;
  RunPoint point;
  Topology topology;
  ForecastPlan planned;
};

// Precondition: point.workload.
[[nodiscard]] ParallelGroups workload_groups(const Topology& topology, const RunPoint& point);

// A plan for every different operation of the workload, in the order of issue. Skips all_to_all,
// which no planner plans, and operations without bytes or without a second NPU. Precondition:
// point.collective names a planner.
[[nodiscard]] std::vector<std::unique_ptr<const WorkloadPlan>> plan_workload(
    const RunPoint& point, const ParallelGroups& groups, const Workload& workload,
    const Choices& choices);

// "all_reduce of 120000000 B over all data-parallel NPUs".
[[nodiscard]] std::string describe(const CommunicationOp& op);

// The bandwidths and latencies of a multi-dimensional system, for costs in closed form.
// Precondition: topology.dimensions(), built from the point's system.
[[nodiscard]] CostSystem cost_system(const Topology& topology, const RunPoint& point);

}  // namespace espalier
