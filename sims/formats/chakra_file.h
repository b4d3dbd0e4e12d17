// Chakra execution traces, versions 0.0.4 and 1.0 (Sridharan et al., arXiv 2305.14516): a file for
// each rank, PREFIX.RANK.et, of protobuf messages, each behind its length (chakra.proto), and a
// file of process groups in JSON, {"1": [0, 1], ...}: lists of ranks in the order of their ring.
#pragma once

#include <memory>

#include "hw/topology/topology.h"
#include "sims/point/training_config.h"
#include "sims/text/diagnostics.h"
#include "sims/workload/graph/work_graph.h"

namespace espalier {

// The work in the traces of all nodes of the network, which the configuration names at `place`.
// Null after an error. The traces' hash is that of a file with the prefix as its name.
[[nodiscard]] std::shared_ptr<const WorkGraph> load_traces(const WorkloadConfig& config,
                                                           const Topology& topology,
                                                           const Place& place,
                                                           Diagnostics& diagnostics);

}  // namespace espalier
