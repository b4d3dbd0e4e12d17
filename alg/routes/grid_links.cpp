#include "alg/routes/grid_links.h"

namespace espalier {

GridHop grid_hop(const Topology& topology, LinkId link) {
  const GridShape& grid = *topology.grid();
  const TopologyLink& l = topology.link(link);
  const auto from = grid.coordinates(l.from);
  const auto to = grid.coordinates(l.to);
  GridHop hop;
  while (from[hop.dim] == to[hop.dim]) ++hop.dim;
  const std::uint32_t size = grid.dims[hop.dim];
  const std::uint32_t at = from[hop.dim];
  if (!grid.wraps) {
    hop.plus = at + 1 == to[hop.dim];
    return hop;
  }
  // A ring of two nodes has parallel links, minus before plus.
  hop.plus =
      size == 2 ? link != topology.link_between(l.from, l.to) : (at + 1) % size == to[hop.dim];
  hop.wraps = at == (hop.plus ? size - 1 : 0);
  return hop;
}

LinkId grid_link(const Topology& topology, NodeId from, std::size_t dim, bool plus) {
  const GridShape& grid = *topology.grid();
  auto at = grid.coordinates(from);
  const std::uint32_t size = grid.dims[dim];
  const bool at_border = plus ? at[dim] + 1 == size : at[dim] == 0;
  if (size == 1 || (at_border && !grid.wraps)) return {};
  at[dim] = plus ? (at[dim] + 1) % size : (at[dim] + size - 1) % size;
  const NodeId to = grid.node_at(at);
  LinkId found;
  for (const LinkId link : topology.out_links(from)) {
    if (topology.link(link).to != to) continue;
    found = link;
    // Only a ring of two nodes has a second link to the same neighbour: plus, after minus.
    if (!plus) break;
  }
  return found;
}

}  // namespace espalier
