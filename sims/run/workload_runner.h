// Training iterations on a multi-dimensional system, with communication by forecast.
#pragma once

#include "hw/topology.h"
#include "sims/config/config.h"
#include "sims/run/point_runner.h"

namespace espalier {

// Preconditions: point.workload, topology.dimensions().
[[nodiscard]] PointReport run_workload(const Topology& topology, const RunPoint& point);

}  // namespace espalier
