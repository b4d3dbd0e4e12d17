// Multi-dimensional systems: shape and graph.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "hw/topology/dimensions.h"
#include "hw/topology/topology.h"

namespace espalier {

namespace {

const char* short_name(DimensionShape shape) {
  constexpr std::array kNames{"ring", "fc", "sw"};
  return kNames.at(static_cast<std::size_t>(shape));
}

void check_dimension(const DimensionSpec& dimension, std::size_t d) {
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument(fmt::format("dimension {}: {}", d + 1, what));
  };
  if (dimension.size < 2) refuse("a dimension has at least 2 NPUs");
  const std::uint32_t directions = dimension.directions();
  if (dimension.links == 0 || dimension.links % directions != 0) {
    refuse(fmt::format("{} links per NPU are not a multiple of {}", dimension.links, directions));
  }
}

// E.g. "4D-ring_fc_ring_sw 4x8x4x8".
std::string name_of_shape(const std::vector<DimensionSpec>& dimensions) {
  std::vector<std::string> shapes;
  std::vector<std::uint32_t> sizes;
  for (const DimensionSpec& dimension : dimensions) {
    shapes.emplace_back(short_name(dimension.shape));
    sizes.push_back(dimension.size);
  }
  return fmt::format("{}D-{} {}", dimensions.size(), fmt::join(shapes, "_"), fmt::join(sizes, "x"));
}

std::string port_name(std::size_t d, std::uint32_t i) { return fmt::format("d{}_{}", d + 1, i); }

NetworkShape shape_of(DimensionedShape dimensions) {
  NetworkShape shape;
  shape.dimensions = std::move(dimensions);
  return shape;
}

LinkSpec from_switch(const DimensionSpec& dimension) {
  LinkSpec down = dimension.link;
  if (dimension.from_switch_latency_ps != 0) down.latency_ps = dimension.from_switch_latency_ps;
  return down;
}

// Adds all links from `node`, whose coordinate is `x`, to the one switch of its group, then all
// links back.
void link_all_to(Topology& topology, const DimensionSpec& dimension, std::size_t d, NodeId node,
                 NodeId vertex, std::uint32_t x) {
  const auto at_switch = [&](std::uint32_t i) { return fmt::format("n{}_{}", x, i); };
  for (std::uint32_t i = 0; i < dimension.links; ++i) {
    topology.add_link(node, vertex, dimension.link, port_name(d, i), at_switch(i));
  }
  for (std::uint32_t i = 0; i < dimension.links; ++i) {
    topology.add_link(vertex, node, from_switch(dimension), at_switch(i), port_name(d, i));
  }
}

class DimensionedBuilder {
 public:
  explicit DimensionedBuilder(DimensionedShape shape)
      : shape_(std::move(shape)),
        nodes_(shape_.num_nodes()),
        topology_(name_of_shape(shape_.dimensions)) {}

  Topology build() {
    for (std::size_t n = 0; n < nodes_; ++n) topology_.add_node("r" + coordinates(n, kAll));
    for (std::size_t d = 0; d < shape_.dimensions.size(); ++d) add_switches(d);
    NodeId first_switch(nodes_);
    for (std::size_t d = 0; d < shape_.dimensions.size(); ++d) {
      if (shape_.dimensions[d].shape == DimensionShape::switched) {
        link_by_switches(d, first_switch);
        first_switch = NodeId(first_switch.index() + num_switches(d));
      } else {
        link_directly(d);
      }
    }
    topology_.set_shape(shape_of(std::move(shape_)));
    return std::move(topology_);
  }

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};

  // The node's coordinates except the one in dimension `except`, e.g. "_3_0_5".
  [[nodiscard]] std::string coordinates(std::size_t node, std::size_t except) const {
    std::string text;
    for (std::size_t d = 0; d < shape_.dimensions.size(); ++d) {
      const std::size_t size = shape_.dimensions[d].size;
      if (d != except) text += fmt::format("_{}", node % size);
      node /= size;
    }
    return text;
  }

  [[nodiscard]] std::size_t num_groups(std::size_t d) const {
    return nodes_ / shape_.dimensions[d].size;
  }
  [[nodiscard]] std::size_t num_switches(std::size_t d) const {
    return num_groups(d) * shape_.dimensions[d].planes();
  }
  // Groups are numbered in the order of their first nodes.
  [[nodiscard]] std::size_t group_of(std::size_t node, std::size_t d) const {
    const std::size_t stride = shape_.stride(d);
    return node % stride + node / (stride * shape_.dimensions[d].size) * stride;
  }
  [[nodiscard]] std::size_t first_node(std::size_t group, std::size_t d) const {
    const std::size_t stride = shape_.stride(d);
    return group % stride + group / stride * stride * shape_.dimensions[d].size;
  }

  // Adds the switches plane by plane.
  void add_switches(std::size_t d) {
    if (shape_.dimensions[d].shape != DimensionShape::switched) return;
    for (std::uint32_t plane = 0; plane < shape_.dimensions[d].planes(); ++plane) {
      for (std::size_t group = 0; group < num_groups(d); ++group) {
        topology_.add_switch(
            fmt::format("sw_{}_{}{}", d + 1, plane, coordinates(first_node(group, d), d)));
      }
    }
  }

  void link_by_switches(std::size_t d, NodeId first_switch) {
    const DimensionSpec& dimension = shape_.dimensions[d];
    if (dimension.one_switch) {
      link_by_one_switch(d, first_switch);
      return;
    }
    const LinkSpec down = from_switch(dimension);
    for (std::uint32_t plane = 0; plane < dimension.links; ++plane) {
      const std::string at_node = port_name(d, plane);
      for (std::size_t n = 0; n < nodes_; ++n) {
        const NodeId node(n);
        const NodeId plane_switch(first_switch.index() + plane * num_groups(d) + group_of(n, d));
        const std::string at_switch = fmt::format("n{}", shape_.coordinate(node, d));
        topology_.add_link(node, plane_switch, dimension.link, at_node, at_switch);
        topology_.add_link(plane_switch, node, down, at_switch, at_node);
      }
    }
  }

  // At the switch, the links of one NPU have consecutive numbers, and so have the links back to it.
  void link_by_one_switch(std::size_t d, NodeId first_switch) {
    const DimensionSpec& dimension = shape_.dimensions[d];
    for (std::size_t n = 0; n < nodes_; ++n) {
      link_all_to(topology_, dimension, d, NodeId(n), NodeId(first_switch.index() + group_of(n, d)),
                  shape_.coordinate(NodeId(n), d));
    }
  }

  // Links are added direction by direction, so that an input port too has the same direction at
  // every node.
  void link_directly(std::size_t d) {
    const DimensionSpec& dimension = shape_.dimensions[d];
    const bool ring = dimension.shape == DimensionShape::ring;
    const std::uint32_t parallel = dimension.parallel_links();
    for (std::uint32_t direction = 0; direction < dimension.directions(); ++direction) {
      const std::uint32_t step = ring && direction == 1 ? dimension.size - 1 : direction + 1;
      for (std::size_t n = 0; n < nodes_; ++n) {
        const NodeId from(n);
        const std::uint32_t x = (shape_.coordinate(from, d) + step) % dimension.size;
        // Parallel links have consecutive numbers. A message that uses all of them names the first.
        for (std::uint32_t i = 0; i < parallel; ++i) {
          const std::string name = port_name(d, direction * parallel + i);
          topology_.add_link(from, shape_.peer(from, d, x), dimension.link, name, name);
        }
      }
    }
  }

  DimensionedShape shape_;
  std::size_t nodes_;
  Topology topology_;
};

}  // namespace

std::uint32_t DimensionSpec::directions() const {
  if (shape == DimensionShape::ring) return 2;
  return shape == DimensionShape::fully_connected ? size - 1 : 1;
}

std::uint32_t fewest_links(DimensionShape shape, std::uint32_t size) {
  DimensionSpec spec;
  spec.shape = shape;
  spec.size = size;
  return spec.directions();
}

std::uint32_t DimensionSpec::planes() const {
  if (shape != DimensionShape::switched) return 0;
  return one_switch ? 1 : links;
}

std::size_t DimensionedShape::num_nodes() const {
  std::size_t nodes = 1;
  for (const DimensionSpec& dimension : dimensions) nodes *= dimension.size;
  return nodes;
}

std::uint32_t DimensionedShape::stride(std::size_t d) const {
  std::uint32_t nodes = 1;
  for (std::size_t lower = 0; lower < d; ++lower) nodes *= dimensions[lower].size;
  return nodes;
}

NodeId DimensionedShape::peer(NodeId node, std::size_t d, std::uint32_t x) const {
  const std::size_t step = stride(d);
  return NodeId(node.index() - step * coordinate(node, d) + step * x);
}

std::uint32_t DimensionedShape::first_port(std::size_t d) const {
  std::uint32_t port = 0;
  for (std::size_t lower = 0; lower < d; ++lower) port += dimensions[lower].links;
  return port;
}

std::size_t DimensionedShape::dimension_of_port(std::uint32_t port) const {
  std::size_t d = 0;
  while (d + 1 < dimensions.size() && port >= dimensions[d].links) port -= dimensions[d++].links;
  return d;
}

namespace {

// Throws std::invalid_argument if a dimension is invalid. Returns the number of nodes.
std::uint64_t check_dimensions(const std::vector<DimensionSpec>& dimensions) {
  if (dimensions.empty()) throw std::invalid_argument("a system has at least 1 dimension");
  std::uint64_t nodes = 1;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    check_dimension(dimensions[d], d);
    nodes *= dimensions[d].size;
    if (nodes > kMostVertices) throw std::invalid_argument("a network has at most 2^31 vertices");
  }
  return nodes;
}

}  // namespace

Topology make_dimensions(const std::vector<DimensionSpec>& dimensions) {
  const std::uint64_t nodes = check_dimensions(dimensions);
  std::uint64_t vertices = nodes;
  for (const DimensionSpec& dimension : dimensions) {
    vertices += nodes / dimension.size * dimension.planes();
  }
  if (vertices > kMostVertices) throw std::invalid_argument("a network has at most 2^31 vertices");
  return DimensionedBuilder({dimensions}).build();
}

namespace {

// Hops of a ring follow each other in its direction; behind the link around is the second class.
std::optional<std::vector<std::uint32_t>> ring_classes(const Topology& topology,
                                                       const std::vector<LinkId>& route) {
  const DimensionedShape& dimensions = *topology.shape().joined;
  std::vector<std::uint32_t> classes;
  std::size_t before = dimensions.dimensions.size();
  for (const LinkId id : route) {
    const TopologyLink& link = topology.link(id);
    if (topology.is_switch(link.from) || topology.is_switch(link.to)) {
      classes.push_back(0);
      continue;
    }
    const std::size_t d = dimensions.dimension_of_port(link.out_port);
    const std::uint32_t x = dimensions.coordinate(link.from, d);
    const std::uint32_t y = dimensions.coordinate(link.to, d);
    const bool is_ring = dimensions.dimensions[d].shape == DimensionShape::ring;
    const bool wraps = is_ring && x != y + 1 && y != x + 1;
    classes.push_back(wraps || (d == before && classes.back() == 1) ? 1 : 0);
    before = d;
  }
  return classes;
}

std::vector<LinkId> joined_route(const Topology& topology, NodeId from, NodeId to,
                                 std::uint32_t /*channel*/) {
  const DimensionedShape& dimensions = *topology.shape().joined;
  std::vector<LinkId> links;
  const auto take = [&](std::uint32_t port, NodeId at) {
    links.push_back(topology.out_links(at)[port]);
    return topology.link(links.back()).to;
  };
  NodeId at = from;
  for (std::size_t d = 0; d < dimensions.dimensions.size(); ++d) {
    const DimensionSpec& spec = dimensions.dimensions[d];
    const std::uint32_t goal = dimensions.coordinate(to, d);
    const std::uint32_t first = dimensions.first_port(d);
    while (dimensions.coordinate(at, d) != goal) {
      const std::uint32_t away = (goal + spec.size - dimensions.coordinate(at, d)) % spec.size;
      switch (spec.shape) {
        case DimensionShape::ring:
          at = take(first + (2 * away <= spec.size ? 0 : spec.parallel_links()), at);
          break;
        case DimensionShape::fully_connected:
          at = take(first + (away - 1) * spec.parallel_links(), at);
          break;
        case DimensionShape::switched:
          // A switch's ports are numbered by the coordinates of its nodes.
          at = take(goal, take(first, at));
          break;
      }
    }
  }
  return links;
}

}  // namespace

Topology make_joined(const std::vector<DimensionSpec>& dimensions) {
  Topology topology = make_dimensions(dimensions);
  NetworkShape shape;
  shape.joined = topology.dimensions();
  shape.route = joined_route;
  const bool has_ring = std::any_of(dimensions.begin(), dimensions.end(), [](const auto& spec) {
    return spec.shape == DimensionShape::ring && spec.size > 2;
  });
  if (has_ring) {
    shape.vc_classes = {2, 2, "around a ring", "each side of the dateline"};
    shape.classes = ring_classes;
  }
  topology.set_shape(std::move(shape));
  return topology;
}

std::vector<std::uint32_t> dimension_sizes(const Topology& topology) {
  if (topology.grid()) return topology.grid()->dims;
  std::vector<std::uint32_t> sizes;
  if (!topology.shape().joined) return sizes;
  for (const DimensionSpec& d : topology.shape().joined->dimensions) sizes.push_back(d.size);
  return sizes;
}

std::vector<std::uint32_t> coordinates_of(const Topology& topology, NodeId node) {
  if (topology.grid()) return topology.grid()->coordinates(node);
  std::vector<std::uint32_t> at;
  for (std::size_t d = 0; d < topology.shape().joined->dimensions.size(); ++d) {
    at.push_back(topology.shape().joined->coordinate(node, d));
  }
  return at;
}

Topology make_folded(const std::vector<DimensionSpec>& dimensions) {
  static_cast<void>(check_dimensions(dimensions));
  Topology topology(name_of_shape(dimensions));
  const NodeId node = topology.add_node("r");
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    for (std::uint32_t plane = 0; plane < dimensions[d].planes(); ++plane) {
      topology.add_switch(fmt::format("sw_{}_{}", d + 1, plane));
    }
  }
  NodeId next_switch(1);
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const LinkSpec link = dimensions[d].link;
    if (dimensions[d].one_switch) {
      link_all_to(topology, dimensions[d], d, node, next_switch, 0);
      next_switch = NodeId(next_switch.index() + 1);
      continue;
    }
    for (std::uint32_t i = 0; i < dimensions[d].links; ++i) {
      const std::string name = port_name(d, i);
      if (dimensions[d].shape != DimensionShape::switched) {
        topology.add_loop(node, link, name, name);
        continue;
      }
      topology.add_link(node, next_switch, link, name, "n0");
      topology.add_link(next_switch, node, from_switch(dimensions[d]), "n0", name);
      next_switch = NodeId(next_switch.index() + 1);
    }
  }
  topology.set_shape(shape_of({dimensions}));
  return topology;
}

}  // namespace espalier
