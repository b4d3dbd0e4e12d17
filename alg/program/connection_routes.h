// The links that a program's connection uses.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// Channel 0 takes route_packet's route. If the network has parallel paths of equal length, the
// other channels take the next paths, in turn: data centre          the hash that chooses among
// equal paths GPU cluster          the NICs of the source's and of the destination's group switch
// pair          the parallel links fat-tree             the spines neighbouring nodes   parallel
// links between them In other networks all channels share one route. These routes are as free of
// deadlock as those of route_packet. Precondition: two different nodes. Throws as route_packet
// does.
[[nodiscard]] std::vector<LinkId> connection_route(const Topology& topology, NodeId from, NodeId to,
                                                   std::uint32_t channel);

}  // namespace espalier
