// system.topology.without: the parts of a network that are broken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Takes the parts out ("node 5", "switch sp_0", "link 3-4", "link 3->4"; vertices by name, nodes
// also by number). Records an error at `place` and returns nothing if a part does not exist, or if
// fewer than two nodes are left or they are not connected.
[[nodiscard]] std::optional<Topology> without_broken(const Topology& topology,
                                                     const std::vector<std::string>& parts,
                                                     const Place& place, Diagnostics& diagnostics);

}  // namespace espalier
