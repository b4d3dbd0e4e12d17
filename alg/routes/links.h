// Properties of a topology's links: units of bandwidth, reverse links, distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// A grid in each dimension of which all links have one rate.
[[nodiscard]] bool is_even_grid(const Topology& topology);

// Heterogeneous links as a multigraph (MultiTree, section VII-B): a link stands for several edges
// of one unit of bandwidth each.

// By LinkId: the link's rate as a multiple of the slowest link's, rounded down, at least 1. The
// link carries this many transfers of equal size while the slowest link carries one.
[[nodiscard]] std::vector<std::uint32_t> link_units(const Topology& topology);

// The same for trees that are used in both directions: at most the units of the reverse link.
[[nodiscard]] std::vector<std::uint32_t> two_way_link_units(const Topology& topology);

// The reverse link. Of several parallel links, the one at the same position in the order, so that
// the mirror of a contention-free step is free of contention. An invalid id if no link leads back.
[[nodiscard]] LinkId link_back(const Topology& topology, LinkId there);

// The most links into a node or out of one, at least 1: with as many NI ports, every node can use
// all of its links at the same time. `relays`: vertices behind the nodes that have an NI, too.
[[nodiscard]] std::uint32_t most_links_of_a_node(const Topology& topology,
                                                 const std::vector<bool>& relays = {});

inline constexpr std::size_t kUnreached = std::numeric_limits<std::size_t>::max();

// Links between the two nodes that are farthest apart. Precondition: connected.
[[nodiscard]] std::size_t longest_distance(const Topology& topology);

// The number of links on a shortest path from `from`, by vertex; kUnreached if there is no path.
// Only links for which `uses` is true; if it is empty, all.
[[nodiscard]] std::vector<std::size_t> distances_from(const Topology& topology, NodeId from,
                                                      const std::function<bool(LinkId)>& uses = {});

}  // namespace espalier
