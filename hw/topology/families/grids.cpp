// Grids of 1 to 3 dimensions {X, Y, Z}: rings in the dimensions of a torus, lines in those of a
// mesh, either in a grid. Ports in neighbour order: d and u (z-1, z+1), n and s (y-1, y+1), w and e
// (x-1, x+1), and w_2 of the second of parallel links. A ring of two nodes has two links each way
// (one for each direction), or is a line if one is asked for; a dimension of size 1 has no links.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

constexpr const char* kTorus = "torus";
constexpr const char* kMesh = "mesh";
constexpr const char* kGrid = "grid";

// Of ports that lead to smaller and to larger coordinates.
constexpr std::array<std::array<const char*, 2>, 3> kDirections{
    {{"w", "e"}, {"n", "s"}, {"d", "u"}}};

std::vector<std::uint32_t> small_numbers(const std::vector<std::uint64_t>& numbers) {
  std::vector<std::uint32_t> small;
  for (const std::uint64_t n : numbers) small.push_back(static_cast<std::uint32_t>(n));
  return small;
}

// Of a list with an entry for each dimension, or of none.
std::uint64_t entry(const NetworkSpec& spec, const char* key, std::size_t dim) {
  const std::vector<std::uint64_t> numbers = spec.numbers(key);
  return numbers.empty() ? 0 : numbers[dim];
}

bool asks_for_rings(const NetworkSpec& spec, std::size_t dim) {
  return spec.type == kGrid ? entry(spec, "wrap", dim) != 0 : spec.type == kTorus;
}

std::vector<std::uint64_t> twist_of(const NetworkSpec& spec) {
  return spec.type == kMesh ? std::vector<std::uint64_t>{} : spec.numbers("twist");
}

GridShape shape_of_grid(const NetworkSpec& spec) {
  GridShape grid(small_numbers(spec.numbers("dims")), false);
  const std::vector<std::uint64_t> twist = twist_of(spec);
  if (std::count(twist.begin(), twist.end(), 0) != static_cast<std::ptrdiff_t>(twist.size())) {
    grid.twist = small_numbers(twist);
  }
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    grid.wraps[d] = asks_for_rings(spec, d);
    const auto links = static_cast<std::uint32_t>(entry(spec, "links", d));
    if (links == 0) continue;
    const bool both_ways = grid.is_pair(d) && links % 2 == 0;
    grid.links[d] = both_ways ? links / 2 : links;
    if (grid.is_pair(d)) grid.wraps[d] = both_ways;
  }
  return grid;
}

NetworkSize size_of_grid(const NetworkSpec& spec) {
  const GridShape grid = shape_of_grid(spec);
  std::uint64_t nodes = 1;
  std::uint64_t ports = 0;
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    nodes *= grid.dims[d];
    ports += std::uint64_t{2} * grid.links[d];
  }
  return {fmt::format("{}", fmt::join(grid.dims, "x")), nodes, nodes * ports, ports};
}

NetworkProblem wrong_twist(std::string what, const char* hint) {
  return {"system.topology.twist: " + std::move(what), hint, "system.topology.twist"};
}

// Precondition: as many entries as the grid has twists.
std::optional<NetworkProblem> problem_of_twist(const GridShape& grid) {
  const std::size_t dims = grid.dims.size();
  constexpr const char* kNames = "xyz";
  for (std::size_t d = 0; d < dims; ++d) {
    for (std::size_t e = d + 1; e < dims; ++e) {
      const std::uint32_t places = grid.twist_of(d, e);
      if (places == 0) continue;
      if (places >= grid.dims[e] || grid.dims[d] < 2) {
        return wrong_twist(
            fmt::format("{0} leads {1} places further in {2}, and {0} has {3} places, {2} {4}",
                        kNames[d], places, kNames[e], grid.dims[d], grid.dims[e]),
            "fewer places than the dimension has, and at least two in the other");
      }
      if (!grid.wraps[d] || !grid.wraps[e]) {
        return wrong_twist(fmt::format("{} and {} do not both wrap around", kNames[d], kNames[e]),
                           "a line has no link around that could lead elsewhere");
      }
    }
  }
  return std::nullopt;
}

std::optional<NetworkProblem> problem_of_grid(const NetworkSpec& spec) {
  const std::size_t dims = spec.numbers("dims").size();
  for (const FamilyKey& key : spec.family().keys) {
    const std::size_t entries = spec.numbers(key.name).size();
    if (key.entries != FamilyKey::Entries::each_dimension || entries == dims || entries == 0) {
      continue;
    }
    const std::string name = "system.topology." + key.name;
    return NetworkProblem{
        fmt::format("{} has {} entries, and the grid has {} dimensions", name, entries, dims),
        "one entry for each dimension", name};
  }
  const std::size_t twists = twist_of(spec).size();
  if (twists != 0 && (twists != dims * (dims - 1) / 2)) {
    return wrong_twist(fmt::format("{} entries for {} dimensions", twists, dims),
                       "one for each pair: [x in y], or [x in y, x in z, y in z]");
  }
  const GridShape grid = shape_of_grid(spec);
  for (std::size_t d = 0; d < dims; ++d) {
    const std::uint64_t links = entry(spec, "links", d);
    if (grid.dims[d] != 2 || links < 2 || links % 2 == 0 || !asks_for_rings(spec, d)) continue;
    return NetworkProblem{fmt::format("system.topology.links: {}: a ring of two nodes has 1 link "
                                      "or an even number, half of them for each direction",
                                      links),
                          "for example 2 links", "system.topology.links"};
  }
  return grid.twist.empty() ? std::nullopt : problem_of_twist(grid);
}

// Routers are named row first, like elements of a matrix: r_<y>_<x>.
std::string grid_vertex_name(const std::vector<std::uint32_t>& coordinates) {
  std::string name = "r";
  for (std::size_t d = coordinates.size(); d-- > 0;) name += fmt::format("_{}", coordinates[d]);
  return name;
}

// Dimension order, X first, the shorter way round. If both ways are equally long, plus (so in a
// ring of two nodes always plus). Sources take turns at the shortest ways of a twisted grid, and at
// parallel links.
std::vector<LinkId> dimension_order_route(const Topology& topology, NodeId from, NodeId to,
                                          std::uint32_t channel) {
  const GridShape& grid = *topology.grid();
  const auto start = grid.coordinates(from);
  const std::uint32_t turn = std::accumulate(start.begin(), start.end(), channel);
  const auto ways = shortest_ways(grid, from, to);
  const auto& way = ways[grid.twist.empty() ? 0 : turn % ways.size()];
  Walk walk(topology, from);
  for (std::size_t dim = 0; dim < way.size(); ++dim) {
    for (std::int64_t left = std::abs(way[dim]); left > 0; --left) {
      walk.take(grid_link(topology, walk.at(), dim, way[dim] > 0, turn));
    }
  }
  return walk.links();
}

// MultiTree's preference (section III-C): the highest dimension first, minus before plus.
void add_grid_links(Topology& topology, const GridShape& grid, const NetworkSpec& spec,
                    LinkSpec link) {
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    for (std::size_t d = grid.dims.size(); d-- > 0;) {
      LinkSpec of_dim = link;
      if (const auto rate = entry(spec, "bandwidth", d)) of_dim.bytes_per_second = rate;
      if (const auto latency = entry(spec, "latency", d)) of_dim.latency_ps = latency;
      for (const bool plus : {false, true}) {
        const NodeId to = grid.neighbour(NodeId(n), d, plus);
        const auto& [minus_name, plus_name] = kDirections.at(d);
        for (std::uint32_t lane = 0; to.valid() && lane < grid.links[d]; ++lane) {
          const std::string suffix = lane == 0 ? "" : fmt::format("_{}", lane + 1);
          topology.add_link(NodeId(n), to, of_dim, (plus ? plus_name : minus_name) + suffix,
                            (plus ? minus_name : plus_name) + suffix);
        }
      }
    }
  }
}

Topology build_grid(const NetworkSpec& spec, LinkSpec link) {
  const NetworkSize size = size_of_grid(spec);
  Topology topology(fmt::format("{} {}", spec.type, size.name));
  NetworkShape shape;
  shape.grid = shape_of_grid(spec);
  const GridShape& grid = *shape.grid;
  for (std::size_t n = 0; n < size.nodes; ++n) {
    topology.add_node(grid_vertex_name(grid.coordinates(NodeId(n))));
  }
  if (std::find(grid.wraps.begin(), grid.wraps.end(), true) != grid.wraps.end()) {
    shape.vc_classes = {2, 2, "around a torus", "each side of the dateline"};
  }
  shape.route = dimension_order_route;
  add_grid_links(topology, grid, spec, link);
  topology.set_shape(std::move(shape));
  return topology;
}

FamilyKey each_dimension(FamilyKey::Kind kind, const char* name, const char* doc,
                         std::uint64_t preset, bool required = false) {
  FamilyKey key{kind, name, doc, required, preset, preset};
  key.entries = FamilyKey::Entries::each_dimension;
  return key;
}

Family grid_row(std::uint32_t place, const char* name, const char* summary) {
  using Kind = FamilyKey::Kind;
  std::vector<FamilyKey> keys{{Kind::sides, "dims", "nodes in X, Y and Z", true}};
  keys.front().entries = FamilyKey::Entries::each_dimension;
  if (name == std::string(kGrid))
    keys.push_back(
        each_dimension(Kind::flag, "wrap", "whether the lines of a dimension are rings", 0, true));
  keys.push_back(each_dimension(
      Kind::bandwidth, "bandwidth",
      "of each link of a dimension, in one direction; link: system.link.bandwidth", 0));
  keys.push_back(each_dimension(
      Kind::latency, "latency",
      "of each link of a dimension, in one direction; link: system.link.latency", 0));
  keys.push_back(
      each_dimension(Kind::count, "links",
                     "parallel links between neighbours; auto: 1, in a ring of two nodes 2", 0));
  if (name != std::string(kMesh)) {
    FamilyKey twist{Kind::number, "twist",
                    "places by which the links around X lead further in Y, or around X in Y, "
                    "around X in Z and around Y in Z",
                    false, 0};
    twist.entries = FamilyKey::Entries::several;
    keys.push_back(twist);
  }
  Family row(place, name, summary, std::move(keys), "system.topology.dims", size_of_grid,
             build_grid);
  row.problem = problem_of_grid;
  return row;
}

}  // namespace

Family torus_family() { return grid_row(0, kTorus, "dims [X, Y, Z]; neighbours wrap around"); }
Family mesh_family() { return grid_row(1, kMesh, "dims [X, Y, Z]"); }
Family grid_family() {
  return grid_row(2, kGrid, "dims [X, Y, Z]; rings, lines, rates and twists by dimension");
}

}  // namespace espalier
