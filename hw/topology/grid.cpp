// Torus and mesh builders.
#include <fmt/format.h>

#include <array>
#include <stdexcept>

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

namespace {

struct DirectionNames {
  const char* minus;
  const char* plus;
};
constexpr std::array<DirectionNames, 3> kDirections{{{"w", "e"}, {"n", "s"}, {"d", "u"}}};

// Routers are named row first, like elements of a matrix: r_<y>_<x>.
std::string grid_vertex_name(const std::vector<std::uint32_t>& coordinates) {
  std::string name = "r";
  for (std::size_t d = coordinates.size(); d-- > 0;) name += fmt::format("_{}", coordinates[d]);
  return name;
}

Topology make_grid(const char* kind, const std::vector<std::uint32_t>& dims, LinkSpec spec,
                   bool wraps) {
  if (dims.empty() || dims.size() > kDirections.size()) {
    throw std::invalid_argument(fmt::format("a {} has 1 to 3 dimensions", kind));
  }
  std::size_t nodes = 1;
  for (const std::uint32_t size : dims) {
    if (size == 0) throw std::invalid_argument(fmt::format("a {} dimension is at least 1", kind));
    nodes *= size;
  }
  if (nodes < 2) throw std::invalid_argument(fmt::format("a {} needs at least 2 nodes", kind));

  Topology topology(fmt::format("{} {}", kind, fmt::join(dims, "x")));
  const GridShape grid{dims, wraps};
  for (std::size_t n = 0; n < nodes; ++n) {
    topology.add_node(grid_vertex_name(grid.coordinates(NodeId(n))));
  }
  topology.set_grid(grid);

  // MultiTree's preference (section III-C): the highest dimension first, minus before plus.
  for (std::size_t n = 0; n < nodes; ++n) {
    const NodeId from(n);
    for (std::size_t d = dims.size(); d-- > 0;) {
      const std::uint32_t size = dims[d];
      for (const bool plus : {false, true}) {
        auto at = grid.coordinates(from);
        const bool at_border = plus ? at[d] + 1 == size : at[d] == 0;
        if (size == 1 || (at_border && !wraps)) continue;
        at[d] = plus ? (at[d] + 1) % size : (at[d] + size - 1) % size;
        const auto& names = kDirections.at(d);
        topology.add_link(from, grid.node_at(at), spec, plus ? names.plus : names.minus,
                          plus ? names.minus : names.plus);
      }
    }
  }
  return topology;
}

}  // namespace

Topology make_torus(const std::vector<std::uint32_t>& dims, LinkSpec spec) {
  return make_grid("torus", dims, spec, true);
}

Topology make_mesh(const std::vector<std::uint32_t>& dims, LinkSpec spec) {
  return make_grid("mesh", dims, spec, false);
}

}  // namespace espalier
