// The links of a program's connection.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// Channel 0 takes the route of route_packet(). If the network has parallel paths of equal length,
// the other channels take the next paths in turn:
// - data centre: the path that ECMP's hash chooses for the channel;
// - GPU cluster: the NICs of the source's and of the destination's group;
// - switch pair: the parallel links;
// - fat-tree: the spines;
// - neighbouring nodes: the parallel links between them.
// In other networks all channels share one route. These routes are as free of deadlock as the
// routes of route_packet(). Precondition: two different nodes. Throws the exceptions of
// route_packet().
[[nodiscard]] std::vector<LinkId> connection_route(const Topology& topology, NodeId from, NodeId to,
                                                   std::uint32_t channel);

}  // namespace espalier
