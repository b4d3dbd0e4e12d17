// Breadth first over all links.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

inline constexpr std::size_t kUnreached = std::numeric_limits<std::size_t>::max();

// Links on a shortest way from `from`, by vertex; kUnreached where there is none.
[[nodiscard]] std::vector<std::size_t> distances_from(const Topology& topology, NodeId from);

}  // namespace espalier
