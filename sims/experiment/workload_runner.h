// Training iterations on a multi-dimensional system, every collective simulated.
#pragma once

#include "hw/topology/topology.h"
#include "sims/experiment/point_runner.h"
#include "sims/point/config.h"

namespace espalier {

// Preconditions: point.workload, topology.dimensions(). Simulates, so: once per process.
[[nodiscard]] PointReport run_workload(const Topology& topology, const RunPoint& point);

}  // namespace espalier
