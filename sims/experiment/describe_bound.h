// The bound of a run in its result, with what proves it (docs/results.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hw/topology/topology.h"
#include "sims/experiment/point_run.h"

namespace espalier {

// `time_ns`: of the run; 0 if it did not end.
void describe_bound(nlohmann::ordered_json& result, const Topology& topology, const RunBound& bound,
                    double time_ns);

// `bound_proof`: the class of schedules, and the certificate by names of vertices. Precondition:
// there is one.
[[nodiscard]] nlohmann::ordered_json describe_proof(const Topology& topology,
                                                    const CollectiveBound& bound);

}  // namespace espalier
