// Heterogeneous links as a multigraph (MultiTree, section VII-B): a link as so many edges of one
// unit of bandwidth.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// By LinkId: whole multiples of the slowest link's rate, rounded down, at least 1. So many
// transfers of equal size can pass the link in the time in which the slowest link carries one.
[[nodiscard]] std::vector<std::uint32_t> link_units(const Topology& topology);

// The same for trees that are used in both directions: no more units than the link back has.
[[nodiscard]] std::vector<std::uint32_t> two_way_link_units(const Topology& topology);

// The link back: of several parallel ones the one at the same place in the order, so that the
// mirror of a contention-free step is contention-free. An invalid id where there is none.
[[nodiscard]] LinkId link_back(const Topology& topology, LinkId there);

}  // namespace espalier
