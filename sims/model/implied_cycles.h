// Latencies that the configuration leaves to the cost model: "auto".
#pragma once

#include "hw/topology/topology.h"
#include "sims/model/system_shape.h"
#include "sims/point/config.h"

namespace espalier {

[[nodiscard]] inline bool has_implied_cycles(const SystemConfig& system) {
  return system.router.pipeline_is_implied || system.ni.dimension_queue.arbitration_is_implied;
}

// Gives latencies that are "auto" the cycles that the system's routers and SCF finders take at its
// clock. `topology` is the system's, with any latencies in their place. The depth of VCs, where it
// is "auto", follows the pipeline, so that the model is asked until both agree.
void resolve_implied_cycles(SystemConfig& system, const Topology& topology, const RunNeed& need);

}  // namespace espalier
