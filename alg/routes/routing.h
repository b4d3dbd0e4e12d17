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
// minimal ones, see alg/routes/routing.h.
// GPU clusters (Topology::cluster): channel 0 of alg/routes/routing.h.
// Data centres (Topology::data_center): channel 0 of alg/routes/routing.h.
// Other graphs: neighbours use their first direct link. All others the shortest legal up*/down*
// path, where up is towards the root of the breadth-first tree at vertex 0 (lower level, or the
// same level and lower id), so that one VC class is free of deadlock; ties go to the lower port.
// Throws std::invalid_argument where no legal path exists: only where links lack a link back.
[[nodiscard]] std::vector<LinkId> route_packet(const Topology& topology, NodeId from, NodeId to);

// Nodes of one leaf meet there. Between leaves:
// switch_pair  the parallel link (destination + channel) mod number of links.
// fat_tree     up to spine (source + channel) mod number of spines, down to the destination's leaf.
// bigraph      one hop to the other side; within a side two, by way of the other side's switch at
//              the position of the source's.
// dragonfly    minimal: to the group's switch with the global link (local), over it (global), to
//              the destination's switch (local); unneeded hops are left out.
// Packets take channel 0; programs have several.
// Precondition: topology.switched(), two different nodes.
[[nodiscard]] std::vector<LinkId> switched_route(const Topology& topology, NodeId from, NodeId to,
                                                 std::uint32_t channel = 0);

// Within a server by its switch; to another server by a NIC of the source's group, the fabric and a
// NIC of the destination's group. A GPU's NIC is that of number (its place in the group + channel)
// mod nics_per_group in its group. All routes go up, then down, so one VC class is free of
// deadlock. Precondition: topology.cluster(), two different nodes.
[[nodiscard]] std::vector<LinkId> cluster_route(const Topology& topology, NodeId from, NodeId to,
                                                std::uint32_t channel);

// Up to the lowest level that both ends share, then down. Equal-cost multi-path (ECMP): among
// parallel uplinks and ways down each switch chooses by a hash of source, destination, `channel`
// and the shape's seed, as of a connection's addresses and ports, so that a pair of ends keeps its
// path. The ends are nodes, or ToR switches for other tenants' hosts behind them. All routes go up,
// then down, so one VC class is free of deadlock. Precondition: topology.data_center(), two
// different ends.
[[nodiscard]] std::vector<LinkId> data_center_route(const Topology& topology, NodeId from,
                                                    NodeId to, std::uint32_t channel = 0);

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
