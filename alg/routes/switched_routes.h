// Deterministic routes of networks with switches, as their builders make them
// (hw/topology/switched.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// Nodes of one leaf meet there. Between leaves:
// switch_pair  the parallel link (destination + channel) mod number of links.
// fat_tree     up to spine (source + channel) mod number of spines, down to the destination's leaf.
// bigraph      one hop to the other side; within a side two, by way of the other side's switch at
//              the position of the source's.
// dragonfly    minimal: to the group's switch with the global link (local), over it (global), to
//              the destination's switch (local); what is not needed is left out.
// Packets take channel 0; programs have several.
// Precondition: topology.switched(), two different nodes.
[[nodiscard]] std::vector<LinkId> switched_route(const Topology& topology, NodeId from, NodeId to,
                                                 std::uint32_t channel = 0);

}  // namespace espalier
