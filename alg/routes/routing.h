// Deterministic routes of normal packets, and the VC classes that keep them free of deadlock.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

// The links of the route from `from` to `to` (from != to).
// Torus, mesh: dimension order, X first, the shorter way round; where both ways are equally long,
// plus (so in a ring of two nodes always plus).
// Switched networks (Topology::switched): MultiTree's fixed routes (section V) and the dragonfly's
// minimal ones, see alg/routes/switched_routes.h.
// GPU clusters (Topology::cluster): channel 0 of alg/routes/cluster_routes.h.
// Data centres (Topology::data_center): channel 0 of alg/routes/data_center_routes.h.
// Other graphs: neighbours use their first direct link. All others the shortest legal up*/down*
// path, where up is towards the root of the breadth-first tree at vertex 0 (lower level, or the
// same level and lower id), so that one VC class is free of deadlock; ties go to the lower port.
// Throws std::invalid_argument where no legal path exists: only where links lack a link back.
[[nodiscard]] std::vector<LinkId> route_packet(const Topology& topology, NodeId from, NodeId to);

// Number of VC classes that keep routes free of deadlock: 2 on a torus (datelines), else as many as
// a shortest route may pass links between switches: 2 on a BiGraph, 3 on a dragonfly. 1 on networks
// whose routes go up, then down.
[[nodiscard]] std::uint32_t vc_classes(const Topology& topology);
// As many of them as routers of `vcs` VCs keep apart.
[[nodiscard]] std::uint32_t usable_vc_classes(const Topology& topology, std::uint32_t vcs);
// Classes that suffice where all routes are route_packet's: 2 on a torus and on a dragonfly of more
// than two groups of several switches, else 1.
[[nodiscard]] std::uint32_t least_vc_classes(const Topology& topology);
// Class of the VC that buffers a packet at the end of hop `hop` of `route`, below vc_classes: on a
// torus 1 from the wrap-around link of a dimension to the last hop in that dimension, else 0. On a
// BiGraph and a dragonfly the number of links between switches so far, less one.
[[nodiscard]] std::uint32_t vc_class_after(const Topology& topology, const RouteSet& routes,
                                           RouteId route, std::size_t hop);

}  // namespace espalier
