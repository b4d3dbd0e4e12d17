// The bandwidths and latencies of a multi-dimensional system, for costs in closed form.
#pragma once

#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/workload/training/dimension_cost.h"

namespace espalier {

// Precondition: topology.dimensions(), built from the point's system.
[[nodiscard]] CostSystem cost_system(const Topology& topology, const RunPoint& point);

}  // namespace espalier
