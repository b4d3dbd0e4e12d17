// The topology that a configuration describes.
#pragma once

#include <optional>
#include <string>

#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Where the graph file of a configuration stands; precondition: it is from a file.
[[nodiscard]] std::string topology_file_path(const TopologyConfig& config);

// Precondition: it is a data_center. `link`: system.link.
[[nodiscard]] DataCenterLinks data_center_links(const TopologyConfig& config, LinkSpec link);

[[nodiscard]] Oversubscription oversubscription(const SystemConfig& system);

// For a system that was read without errors. Throws std::invalid_argument with the messages where
// its graph file has gone bad since.
[[nodiscard]] Topology build_topology(const SystemConfig& system);

// The reader's variant: records what is wrong, at `place` where it is the configuration's fault.
// Without `clock_valid` links are not checked against the clock. Precondition: a multi-dimensional
// system has passed check_dimensions.
[[nodiscard]] std::optional<Topology> build_topology(const SystemConfig& system, bool clock_valid,
                                                     const Place& place, Diagnostics& diagnostics);

}  // namespace espalier
