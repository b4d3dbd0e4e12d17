// The keys of section system.topology: what shape the network has, and how large it is.
#pragma once

#include <vector>

#include "sims/config/keys.h"

namespace espalier {

// Appends them to the registry under construction.
void add_topology_keys(std::vector<Key>& table);

// The key that an error about the network's size points at: "system.topology.dims" of a grid.
[[nodiscard]] const char* size_key_of(TopologyKind kind);

}  // namespace espalier
