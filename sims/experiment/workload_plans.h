// The collectives of a training workload, each planned on the dimensions of its group.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/experiment/plan_run.h"
#include "sims/point/config.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// One operation with the network to itself: on the dimensions of its group, as large as that is
// there.
struct WorkloadPlan {
  CommunicationOp op;
  RunPoint point;
  Topology topology;
  ForecastPlan planned;
};

// Precondition: point.workload.
[[nodiscard]] ParallelGroups workload_groups(const Topology& topology, const RunPoint& point);

// Every different operation of the workload once, in the order of issue; without all_to_all, which
// no planner plans, and without what has no bytes or nobody to send to. Precondition:
// point.collective, a planner's.
[[nodiscard]] std::vector<std::unique_ptr<const WorkloadPlan>> plan_workload(
    const RunPoint& point, const ParallelGroups& groups, const Workload& workload);

// "all_reduce of 120000000 B over all data-parallel NPUs".
[[nodiscard]] std::string describe(const CommunicationOp& op);

}  // namespace espalier
