// Torus and mesh of 1 to 3 dimensions {X, Y, Z}. Ports in neighbour order: d and u (z-1, z+1), n
// and s (y-1, y+1), w and e (x-1, x+1). A torus dimension of size 2 has two parallel links each way
// (one for each direction); a dimension of size 1 has no links.
#include <fmt/format.h>

#include <array>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

// Of ports that lead to smaller and to larger coordinates.
constexpr std::array<std::array<const char*, 2>, 3> kDirections{
    {{"w", "e"}, {"n", "s"}, {"d", "u"}}};

NetworkSize size_of_grid(const NetworkSpec& spec) {
  const std::vector<std::uint64_t> sides = spec.numbers("dims");
  std::uint64_t nodes = 1;
  for (const std::uint64_t side : sides) nodes *= side;
  const std::uint64_t ports = 2 * sides.size();
  return {fmt::format("{}", fmt::join(sides, "x")), nodes, nodes * ports, ports};
}

// Routers are named row first, like elements of a matrix: r_<y>_<x>.
std::string grid_vertex_name(const std::vector<std::uint32_t>& coordinates) {
  std::string name = "r";
  for (std::size_t d = coordinates.size(); d-- > 0;) name += fmt::format("_{}", coordinates[d]);
  return name;
}

// Dimension order, X first, the shorter way round. If both ways are equally long, plus (so in a
// ring of two nodes always plus).
std::vector<LinkId> dimension_order_route(const Topology& topology, NodeId from, NodeId to,
                                          std::uint32_t) {
  const GridShape& grid = *topology.grid();
  const auto start = grid.coordinates(from);
  const auto end = grid.coordinates(to);
  Walk walk(topology, from);
  for (std::size_t dim = 0; dim < grid.dims.size(); ++dim) {
    const std::uint32_t size = grid.dims[dim];
    const std::uint32_t up = (end[dim] + size - start[dim]) % size;
    const std::uint32_t down = (size - up) % size;
    const bool plus = grid.wraps ? up <= down : end[dim] > start[dim];
    for (std::uint32_t left = plus ? up : down; left > 0; --left) {
      walk.take(grid_link(topology, walk.at(), dim, plus));
    }
  }
  return walk.links();
}

// MultiTree's preference (section III-C): the highest dimension first, minus before plus.
void add_grid_links(Topology& topology, const GridShape& grid, LinkSpec link) {
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    for (std::size_t d = grid.dims.size(); d-- > 0;) {
      for (const bool plus : {false, true}) {
        const NodeId to = grid.neighbour(NodeId(n), d, plus);
        const auto& [minus_name, plus_name] = kDirections.at(d);
        if (to.valid()) {
          topology.add_link(NodeId(n), to, link, plus ? plus_name : minus_name,
                            plus ? minus_name : plus_name);
        }
      }
    }
  }
}

template <bool wraps>
Topology build_grid(const NetworkSpec& spec, LinkSpec link) {
  const NetworkSize size = size_of_grid(spec);
  GridShape grid;
  for (const std::uint64_t side : spec.numbers("dims")) {
    grid.dims.push_back(static_cast<std::uint32_t>(side));
  }
  grid.wraps = wraps;
  Topology topology(fmt::format("{} {}", spec.family().name, size.name));
  for (std::size_t n = 0; n < size.nodes; ++n) {
    topology.add_node(grid_vertex_name(grid.coordinates(NodeId(n))));
  }
  NetworkShape shape;
  shape.grid = grid;
  if (grid.wraps) shape.vc_classes = {2, 2, "around a torus", "each side of the dateline"};
  shape.route = dimension_order_route;
  topology.set_shape(std::move(shape));
  add_grid_links(topology, grid, link);
  return topology;
}

FamilyKey dims_key() { return {FamilyKey::Kind::sides, "dims", "nodes in X, Y and Z", true}; }

}  // namespace

Family torus_family() {
  return Family(1, "torus", "dims [X, Y, Z]; neighbours wrap around", {dims_key()},
                "system.topology.dims", size_of_grid, build_grid<true>);
}

Family mesh_family() {
  return Family(2, "mesh", "dims [X, Y, Z]", {dims_key()}, "system.topology.dims", size_of_grid,
                build_grid<false>);
}

}  // namespace espalier
