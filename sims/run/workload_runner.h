// Training iterations on a multi-dimensional system, every collective simulated.
#pragma once

#include "hw/topology.h"
#include "sims/config/config.h"
#include "sims/run/point_runner.h"

namespace espalier {

// Preconditions: point.workload, topology.dimensions(). Simulates, so: once per process.
[[nodiscard]] PointReport run_workload(const Topology& topology, const RunPoint& point);

}  // namespace espalier
