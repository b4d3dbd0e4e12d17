// Coordinates and links of grids.
#include "hw/topology/topology.h"

namespace espalier {

std::vector<std::uint32_t> GridShape::coordinates(NodeId node) const {
  std::vector<std::uint32_t> result;
  result.reserve(dims.size());
  std::uint32_t rest = node.value();
  for (const std::uint32_t size : dims) {
    result.push_back(rest % size);
    rest /= size;
  }
  return result;
}

NodeId GridShape::node_at(const std::vector<std::uint32_t>& coordinates) const {
  std::size_t id = 0;
  for (std::size_t d = dims.size(); d-- > 0;) id = id * dims[d] + coordinates[d];
  return NodeId(id);
}

NodeId GridShape::neighbour(NodeId node, std::size_t dim, bool plus) const {
  auto at = coordinates(node);
  const std::uint32_t size = dims[dim];
  const bool at_border = plus ? at[dim] + 1 == size : at[dim] == 0;
  if (size == 1 || (at_border && !wraps)) return {};
  at[dim] = (at[dim] + (plus ? 1 : size - 1)) % size;
  return node_at(at);
}

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
  // A ring of two nodes has parallel links; minus comes before plus.
  hop.plus =
      size == 2 ? link != topology.link_between(l.from, l.to) : (at + 1) % size == to[hop.dim];
  hop.wraps = at == (hop.plus ? size - 1 : 0);
  return hop;
}

LinkId grid_link(const Topology& topology, NodeId from, std::size_t dim, bool plus) {
  const NodeId to = topology.grid()->neighbour(from, dim, plus);
  LinkId found;
  for (const LinkId link : topology.out_links(from)) {
    if (topology.link(link).to != to) continue;
    found = link;
    // Only a ring of two nodes has a second link to the same neighbour: plus comes after minus.
    if (!plus) break;
  }
  return found;
}

}  // namespace espalier
