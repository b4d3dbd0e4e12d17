// Deterministic routes of normal packets, and the VC classes that keep them free of deadlock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

// The links of the route from `from` to `to` (from != to): NetworkShape::route, or up_down_route().
// Packets take channel 0, programs have several channels.
[[nodiscard]] std::vector<LinkId> route_packet(const Topology& topology, NodeId from, NodeId to,
                                               std::uint32_t channel = 0);
// Neighbours use their first direct link. Other pairs use the shortest legal up*/down* path, where
// up is towards the root of the breadth-first tree at vertex 0 (lower level, or the same level and
// lower id), so that one VC class is free of deadlock; ties go to the path whose slowest link is
// the fastest, then to the lower port. In a network of several planes (alg/routes/planes.h) the
// path stays in the plane that has the turn (Planes::turns) of number from + to + channel: packets
// of a pair of nodes keep their order. Throws std::invalid_argument if no legal path exists, which
// happens only if links have no reverse link.
[[nodiscard]] std::vector<LinkId> up_down_route(const Topology& topology, NodeId from, NodeId to,
                                                std::uint32_t channel = 0);

// Messages that may overtake each other take this many channels of route_packet() in turn: more
// than one where the routing splits (NetworkShape::split), or in a network of several planes.
[[nodiscard]] std::uint32_t packet_turns(const Topology& topology);
// The links of routes that share none, the fastest first, over which messages may be cut: one for
// each parallel link to a neighbour, or for each plane. One, route_packet(), in other networks.
[[nodiscard]] std::vector<std::vector<LinkId>> parallel_routes(const Topology& topology,
                                                               NodeId from, NodeId to,
                                                               std::uint32_t channel);
// How much of a message a route gets, in proportion to the other parallel routes: the rate of its
// slowest link in MB/s, at least 1.
[[nodiscard]] std::uint32_t share_of_route(const Topology& topology, const RouteSet& routes,
                                           RouteId route);

// Some link of a graph has no link back. Elsewhere packets have a route between all nodes of a
// connected network.
[[nodiscard]] bool may_lack_routes(const Topology& topology);
// Why packets have no route from `from` to `to`; empty if they have one.
[[nodiscard]] std::string problem_of_route(const Topology& topology, NodeId from, NodeId to);

// The number of VC classes that routers with `vcs` VCs can keep apart.
[[nodiscard]] std::uint32_t usable_vc_classes(const Topology& topology, std::uint32_t vcs);
// For each hop of `route`, the class of the VC that buffers a packet at the end of the hop:
// NetworkShape::classes. Otherwise, on a torus: 1 from the wrap-around link of a dimension to the
// last hop in this dimension, otherwise 0. Among leaf switches: the number of links between
// switches so far, minus one.
[[nodiscard]] std::vector<std::uint32_t> vc_classes_of(const Topology& topology,
                                                       const std::vector<LinkId>& route);
[[nodiscard]] std::vector<std::uint32_t> vc_classes_of(const Topology& topology,
                                                       const RouteSet& routes, RouteId route);

// What a plan among `nodes` sees of a network: the nodes' links, and the routes of route_packet()
// between all pairs, with rates, latencies and VC classes. Links and vertices have numbers in the
// order in which they appear here, so a plan that keeps to these routes fits all lists of nodes
// with one pattern. Empty if the network has no routes of its own, or if there are too many pairs.
// `used`: if given, gets the links of the routes in the order in which they appear.
[[nodiscard]] std::vector<std::uint64_t> route_pattern(const Topology& topology,
                                                       const std::vector<NodeId>& nodes,
                                                       std::vector<LinkId>* used = nullptr);

// Routes of route_packet() for messages one after the other: where a network splits
// (NetworkShape::split), messages of a pair take its channels in turn.
class RouteTurns {
 public:
  // The topology must outlive this object.
  explicit RouteTurns(const Topology& topology) : topology_(topology) {}
  [[nodiscard]] std::vector<LinkId> next(NodeId from, NodeId to);

 private:
  const Topology& topology_;
  std::map<std::pair<NodeId, NodeId>, std::uint32_t> turns_;
  std::shared_ptr<const struct UpDownLevels> levels_;  // of the whole network, found once
};

}  // namespace espalier
