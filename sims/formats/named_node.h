// A node as users write it in configurations and the files that they name: its number, its name or
// its coordinates (hw/topology/vertex_names.h).
#pragma once

#include <optional>
#include <string>

#include "hw/topology/topology.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// What to write in place of a vertex that the network does not have.
[[nodiscard]] std::string vertex_hint(const Topology& topology, const std::string& written,
                                      bool only_nodes = false);

// Finds the node `written`, which stands at `place` as the value of `key`. Reports it if it is a
// switch or in no place of the network.
[[nodiscard]] std::optional<NodeId> named_node(const Topology& topology, const std::string& key,
                                               const std::string& written, const Place& place,
                                               Diagnostics& diagnostics);

}  // namespace espalier
