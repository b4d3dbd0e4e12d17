// A configured multi-dimensional system as costs without simulation see it.
#pragma once

#include "hw/topology.h"
#include "sims/config/config.h"
#include "sims/training/dimension_cost.h"

namespace espalier {

// Precondition: topology.dimensions(), built from the point's system.
[[nodiscard]] CostSystem cost_system(const Topology& topology, const RunPoint& point);

}  // namespace espalier
