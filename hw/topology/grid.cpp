// Coordinates and links of grids.
#include <algorithm>
#include <cstdlib>

#include "hw/topology/topology.h"

namespace espalier {

namespace {

// The entry for a number; the number itself in an empty list.
std::uint32_t entry_of(const std::vector<std::uint32_t>& list, std::size_t number) {
  return list.empty() ? static_cast<std::uint32_t>(number) : list[number];
}

}  // namespace

std::vector<std::uint32_t> GridShape::coordinates(NodeId node) const {
  std::vector<std::uint32_t> result;
  result.reserve(dims.size());
  std::uint32_t rest = entry_of(place_of_node, node.index());
  for (const std::uint32_t size : dims) {
    result.push_back(rest % size);
    rest /= size;
  }
  return result;
}

Position GridShape::position(NodeId node) const {
  std::vector<std::uint32_t> at = coordinates(node);
  at.resize(3, 0);
  return {double(at[0]), double(at[1]), double(at[2])};
}

NodeId GridShape::node_at(const std::vector<std::uint32_t>& coordinates) const {
  std::size_t place = 0;
  for (std::size_t d = dims.size(); d-- > 0;) place = place * dims[d] + coordinates[d];
  return NodeId(entry_of(node_of_place, place));
}

NodeId GridShape::node_after(NodeId node, const std::vector<std::int64_t>& hops) const {
  const auto start = coordinates(node);
  std::vector<std::int64_t> places(start.begin(), start.end());
  std::vector<std::uint32_t> at;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t size = dims[d];
    places[d] += hops[d];
    const std::int64_t inside = (places[d] % size + size) % size;
    const std::int64_t turns = (places[d] - inside) / size;
    for (std::size_t e = d + 1; e < dims.size(); ++e) places[e] += turns * twist_of(d, e);
    at.push_back(static_cast<std::uint32_t>(inside));
  }
  return node_at(at);
}

NodeId GridShape::neighbour(NodeId node, std::size_t dim, bool plus) const {
  const std::uint32_t size = dims[dim];
  std::uint32_t stride = 1;
  for (std::size_t d = 0; d < dim; ++d) stride *= dims[d];
  const std::uint32_t place = entry_of(place_of_node, node.index());
  const std::uint32_t at = place / stride % size;
  const bool at_border = plus ? at + 1 == size : at == 0;
  if (size == 1 || (at_border && !wraps[dim])) return {};
  if (!at_border) return NodeId(entry_of(node_of_place, plus ? place + stride : place - stride));
  std::vector<std::int64_t> hop(dims.size(), 0);
  hop[dim] = plus ? 1 : -1;
  return node_after(node, hop);
}

bool GridShape::closes(std::size_t dim) const {
  for (std::size_t other = dim + 1; other < dims.size(); ++other) {
    if (twist_of(dim, other) != 0) return false;
  }
  return wraps[dim];
}

GridHop grid_hop(const Topology& topology, LinkId link) {
  const GridShape& grid = *topology.grid();
  const TopologyLink& l = topology.link(link);
  const auto from = grid.coordinates(l.from);
  const auto to = grid.coordinates(l.to);
  GridHop hop;
  // A twist leads on in later dimensions only.
  while (from[hop.dim] == to[hop.dim]) ++hop.dim;
  if (!grid.wraps[hop.dim]) {
    hop.plus = from[hop.dim] < to[hop.dim];
    return hop;
  }
  hop.plus = l.to == grid.neighbour(l.from, hop.dim, true);
  // Parallel links lead both ways round a ring of two nodes; minus comes before plus.
  if (grid.is_pair(hop.dim)) {
    std::uint32_t before = 0;
    for (const LinkId other : topology.out_links(l.from)) {
      if (other == link) break;
      if (topology.link(other).to == l.to) ++before;
    }
    hop.plus = before >= grid.links[hop.dim];
  }
  hop.wraps = from[hop.dim] == (hop.plus ? grid.dims[hop.dim] - 1 : 0);
  return hop;
}

LinkId grid_link(const Topology& topology, NodeId from, std::size_t dim, bool plus,
                 std::uint32_t lane) {
  const GridShape& grid = *topology.grid();
  const NodeId to = grid.neighbour(from, dim, plus);
  std::uint32_t before = lane % grid.links[dim];
  if (plus && grid.is_pair(dim)) before += grid.links[dim];
  for (const LinkId link : topology.out_links(from)) {
    if (topology.link(link).to == to && before-- == 0) return link;
  }
  return {};
}

namespace {

class WaySearch {
 public:
  WaySearch(const GridShape& grid, NodeId from, NodeId to) : grid_(grid) {
    const auto start = grid.coordinates(from);
    const auto end = grid.coordinates(to);
    for (std::size_t d = 0; d < start.size(); ++d) {
      way_.push_back(std::int64_t{end[d]} - std::int64_t{start[d]});
    }
  }

  std::vector<std::vector<std::int64_t>> run() {
    search(0, 0);
    return std::move(found_);
  }

 private:
  void search(std::size_t dim, std::int64_t hops) {
    if (dim == way_.size()) {
      if (hops < fewest_) found_.clear();
      fewest_ = std::min(fewest_, hops);
      if (hops == fewest_) found_.push_back(way_);
      return;
    }
    const std::int64_t given = way_[dim];
    if (!grid_.wraps[dim]) return search(dim + 1, hops + std::abs(given));
    const std::int64_t size = grid_.dims[dim];
    const std::int64_t up = (given % size + size) % size;
    // Once around is of use where it leads further in another dimension.
    for (std::int64_t way = up == 0 ? size : up; way >= -size; way -= size) {
      if (std::abs(way) == size && grid_.closes(dim)) continue;
      const std::vector<std::int64_t> before = way_;
      way_[dim] = way;
      // Who goes around once more arrives so many places further.
      const std::int64_t turns = (way - given) / size;
      for (std::size_t e = dim + 1; e < way_.size(); ++e) way_[e] -= turns * grid_.twist_of(dim, e);
      search(dim + 1, hops + std::abs(way));
      way_ = before;
    }
  }

  const GridShape& grid_;
  std::vector<std::int64_t> way_;
  std::int64_t fewest_ = std::int64_t{1} << 32;
  std::vector<std::vector<std::int64_t>> found_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> shortest_ways(const GridShape& grid, NodeId from,
                                                     NodeId to) {
  return WaySearch(grid, from, to).run();
}

}  // namespace espalier
