// Heterogeneous links as a multigraph (MultiTree, section VII-B): a link as so many edges of one
// unit of bandwidth.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology.h"

namespace espalier {

// By LinkId: whole multiples of the slowest link's rate, rounded down, at least 1. So many
// transfers of equal size can pass the link in the time in which the slowest link carries one.
[[nodiscard]] std::vector<std::uint32_t> link_units(const Topology& topology);

}  // namespace espalier
