// The links of a program's connection.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/routes/route_set.h"
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

// All routes of a connection, over which every message is cut in proportion to their shares.
struct ConnectionRoutes {
  RouteId first;                      // they are numbered from this one on
  std::vector<std::uint32_t> shares;  // share_of_route()

  [[nodiscard]] std::size_t size() const { return shares.size(); }
  [[nodiscard]] RouteId route(std::size_t place) const { return RouteId(first.index() + place); }
  // The bytes of a message of `bytes` on the first routes, as many as it is cut over: a part that
  // is mostly head is not worth a route.
  [[nodiscard]] std::vector<Bytes> cut(Bytes bytes) const;
};

// In a network with planes or parallel links (parallel_routes()) all channels of two ranks have the
// same routes; elsewhere a connection has one, connection_route(). Preconditions and exceptions as
// there.
[[nodiscard]] ConnectionRoutes connection_routes(const Topology& topology, RouteSet& routes,
                                                 NodeId from, NodeId to, std::uint32_t channel);

}  // namespace espalier
