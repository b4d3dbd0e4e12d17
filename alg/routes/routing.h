// Deterministic routes of normal packets, and the VC classes that keep them free of deadlock.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

// The links of the route from `from` to `to` (from != to).
// - Torus, mesh: dimension order, X first, the shorter way round. If both ways are equally long,
//   plus (so in a ring of two nodes always plus).
// - Switched networks (Topology::switched): channel 0 of switched_route(), which are MultiTree's
//   fixed routes (section V) and the dragonfly's minimal routes.
// - GPU clusters (Topology::cluster): channel 0 of cluster_route().
// - Data centres (Topology::data_center): channel 0 of data_center_route().
// - Other graphs: neighbours use their first direct link. Other pairs use the shortest legal
//   up*/down* path, where up is towards the root of the breadth-first tree at vertex 0 (lower
//   level, or the same level and lower id), so that one VC class is free of deadlock; ties go to
//   the lower port. Throws std::invalid_argument if no legal path exists, which happens only if
//   links have no reverse link.
[[nodiscard]] std::vector<LinkId> route_packet(const Topology& topology, NodeId from, NodeId to);

// Nodes of one leaf meet at the leaf. Between leaves:
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

// Within a server through its switch; to another server through a NIC of the source's group, the
// fabric and a NIC of the destination's group. A GPU uses NIC number (its place in the group +
// channel) mod nics_per_group of its group. All routes go up, then down, so one VC class is free of
// deadlock. Precondition: topology.cluster(), two different nodes.
[[nodiscard]] std::vector<LinkId> cluster_route(const Topology& topology, NodeId from, NodeId to,
                                                std::uint32_t channel);

// Up to the lowest level that both ends share, then down. Equal-cost multi-path (ECMP): each switch
// chooses among parallel uplinks and ways down by a hash of source, destination, `channel` and the
// shape's seed, like a hash of a connection's addresses and ports, so that a pair of ends keeps its
// path. The ends are nodes, or ToR switches for other tenants' hosts behind them. All routes go up,
// then down, so one VC class is free of deadlock. Precondition: topology.data_center(), two
// different ends.
[[nodiscard]] std::vector<LinkId> data_center_route(const Topology& topology, NodeId from,
                                                    NodeId to, std::uint32_t channel = 0);

// The number of VC classes that keep routes free of deadlock: 2 on a torus (datelines), 1 on
// networks whose routes go up, then down. Otherwise the most links between switches that a shortest
// route may pass: 2 on a BiGraph, 3 on a dragonfly.
[[nodiscard]] std::uint32_t vc_classes(const Topology& topology);
// The number of VC classes that routers with `vcs` VCs can keep apart.
[[nodiscard]] std::uint32_t usable_vc_classes(const Topology& topology, std::uint32_t vcs);
// The number of classes that suffices if all routes come from route_packet(): 2 on a torus and
// on a dragonfly of more than two groups of several switches, otherwise 1.
[[nodiscard]] std::uint32_t least_vc_classes(const Topology& topology);
// The class of the VC that buffers a packet at the end of hop `hop` of `route`; less than
// vc_classes(). On a torus: 1 from the wrap-around link of a dimension to the last hop in this
// dimension, otherwise 0. On a BiGraph and a dragonfly: the number of links between switches so
// far, minus one.
[[nodiscard]] std::uint32_t vc_class_after(const Topology& topology, const RouteSet& routes,
                                           RouteId route, std::size_t hop);

}  // namespace espalier
