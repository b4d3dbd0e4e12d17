// Graphs from files that are networks of a family.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "hw/topology/families/family.h"

namespace espalier {

namespace {

using Vertices = std::vector<NodeId>;

// The vertices behind a vertex's links, in ascending order.
Vertices neighbours(const Topology& graph, NodeId vertex) {
  Vertices found;
  for (const LinkId link : graph.out_links(vertex)) found.push_back(graph.link(link).to);
  std::sort(found.begin(), found.end());
  return found;
}

bool is_grid(const Topology& graph, const GridShape& grid) {
  for (std::size_t n = 0; n < graph.num_nodes(); ++n) {
    Vertices expected;
    for (std::size_t d = 0; d < grid.dims.size(); ++d) {
      for (const bool plus : {false, true}) {
        const NodeId next = grid.neighbour(NodeId(n), d, plus);
        if (next.valid()) expected.push_back(next);
      }
    }
    std::sort(expected.begin(), expected.end());
    if (neighbours(graph, NodeId(n)) != expected) return false;
  }
  return true;
}

// Whether links of one kind have one rate and latency.
template <class KindOf>
bool alike(const Topology& graph, const KindOf& kind_of) {
  std::map<std::size_t, LinkSpec> specs;
  return std::all_of(graph.links().begin(), graph.links().end(), [&](const TopologyLink& link) {
    return specs.try_emplace(kind_of(link), link.spec).first->second == link.spec;
  });
}

// `vertices` are the graph's in the family's order.
Topology as_family(const Topology& graph, const NetworkSpec& spec, const Vertices& vertices,
                   const std::string& places) {
  const Topology family = make_network(spec, graph.links().front().spec);
  Topology result(graph.name());
  std::vector<std::size_t> place(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    place[vertices[v].index()] = v;
    const std::string& name = graph.vertex_name(vertices[v]);
    static_cast<void>(graph.is_switch(vertices[v]) ? result.add_switch(name)
                                                   : result.add_node(name));
  }
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> links;  // parallel ones in order
  for (std::size_t l = graph.num_links(); l-- > 0;) {
    const TopologyLink& link = graph.link(LinkId(l));
    links[{NodeId(place[link.from.index()]), NodeId(place[link.to.index()])}].emplace_back(l);
  }
  for (const TopologyLink& link : family.links()) {
    auto& parallel = links.at({link.from, link.to});
    const TopologyLink& own = graph.link(parallel.back());
    parallel.pop_back();
    result.add_link(link.from, link.to, own.spec, own.out_name, own.in_name);
  }
  NetworkShape shape = family.shape();
  shape.recognised = fmt::format("the graph is {}: {}", family.name(), places);
  result.set_shape(std::move(shape));
  return result;
}

Vertices all_vertices(const Topology& graph) {
  Vertices vertices;
  for (std::size_t v = 0; v < graph.num_vertices(); ++v) vertices.emplace_back(v);
  return vertices;
}

// Appends all lists of up to three factors from 2 on whose product is `nodes`.
void add_factors(std::uint32_t nodes, std::vector<std::uint32_t> begun,
                 std::vector<std::vector<std::uint32_t>>& all) {
  begun.push_back(nodes);
  all.push_back(begun);
  begun.pop_back();
  if (begun.size() == 2) return;
  for (std::uint32_t side = 2; side <= nodes / 2; ++side) {
    if (nodes % side != 0) continue;
    begun.push_back(side);
    add_factors(nodes / side, begun, all);
    begun.pop_back();
  }
}

// The grid that the links of node 0 imply for these sizes: a dimension is a ring if its first and
// last nodes are linked. Parallel links match no grid, because rings and trees on a graph use them
// all (alg/routes/planes.h), and those on a grid do not.
GridShape grid_at_first_node(const Topology& graph, const std::vector<std::uint32_t>& dims) {
  const Vertices near = neighbours(graph, NodeId(0));
  const auto links_to = [&](std::size_t node) {
    return std::count(near.begin(), near.end(), NodeId(node));
  };
  GridShape grid(dims, false);
  std::size_t stride = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    grid.wraps[d] = dims[d] == 2 ? links_to(stride) == 2 : links_to(stride * (dims[d] - 1)) != 0;
    stride *= dims[d];
  }
  return grid;
}

NetworkSpec spec_of(const GridShape& grid) {
  NetworkSpec spec;
  const auto same = [&](bool wraps) {
    return std::count(grid.wraps.begin(), grid.wraps.end(), wraps) ==
           static_cast<std::ptrdiff_t>(grid.dims.size());
  };
  spec.type = same(true) ? "torus" : same(false) ? "mesh" : "grid";
  spec.set("dims", {grid.dims.begin(), grid.dims.end()});
  if (spec.type == "grid") spec.set("wrap", {grid.wraps.begin(), grid.wraps.end()});
  return spec;
}

std::optional<Topology> recognised_grid(const Topology& graph) {
  std::vector<std::vector<std::uint32_t>> sides;
  add_factors(static_cast<std::uint32_t>(graph.num_nodes()), {}, sides);
  for (const auto& dims : sides) {
    const GridShape grid = grid_at_first_node(graph, dims);
    if (!is_grid(graph, grid)) continue;
    const auto dimension = [&](const TopologyLink& link) {
      const auto from = grid.coordinates(link.from);
      const auto to = grid.coordinates(link.to);
      return static_cast<std::size_t>(std::mismatch(from.begin(), from.end(), to.begin()).first -
                                      from.begin());
    };
    if (!alike(graph, dimension)) return std::nullopt;
    const NodeId last(graph.num_nodes() - 1);
    return as_family(
        graph, spec_of(grid), all_vertices(graph),
        fmt::format("its nodes stand in the order of their places, '{}' at ({}), '{}' at ({}), and "
                    "so on to '{}' at ({})",
                    graph.vertex_name(NodeId(0)), fmt::join(grid.coordinates(NodeId(0)), ", "),
                    graph.vertex_name(NodeId(1)), fmt::join(grid.coordinates(NodeId(1)), ", "),
                    graph.vertex_name(last), fmt::join(grid.coordinates(last), ", ")));
  }
  return std::nullopt;
}

std::optional<Topology> recognised_mesh(const Topology& graph) {
  const std::size_t nodes = graph.num_nodes();
  if (nodes < 4 || graph.num_links() != nodes * (nodes - 1)) return std::nullopt;
  for (std::size_t n = 0; n < nodes; ++n) {
    Vertices others = all_vertices(graph);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(n));
    if (neighbours(graph, NodeId(n)) != others) return std::nullopt;
  }
  if (!alike(graph, [](const TopologyLink&) { return std::size_t{0}; })) return std::nullopt;
  NetworkSpec spec;
  spec.type = "fully_connected";
  spec.set("nodes", {nodes});
  return as_family(graph, spec, all_vertices(graph), "every node has a link to every other node");
}

std::optional<Topology> recognised_fat_tree(const Topology& graph) {
  Vertices leaves;  // in the order of their nodes
  for (std::size_t n = 0; n < graph.num_nodes(); ++n) {
    const Vertices leaf = neighbours(graph, NodeId(n));
    if (leaf.size() != 1 || !graph.is_switch(leaf.front())) return std::nullopt;
    if (leaves.empty() || leaves.back() != leaf.front()) leaves.push_back(leaf.front());
  }
  if (graph.num_nodes() % leaves.size() != 0) return std::nullopt;
  Vertices spines;
  for (std::size_t v = graph.num_nodes(); v < graph.num_vertices(); ++v) {
    if (std::find(leaves.begin(), leaves.end(), NodeId(v)) == leaves.end()) {
      spines.emplace_back(v);
    }
  }
  const std::size_t per_leaf = graph.num_nodes() / leaves.size();
  if (leaves.size() < 2 || spines.empty() ||
      graph.num_links() != 2 * (graph.num_nodes() + leaves.size() * spines.size())) {
    return std::nullopt;
  }
  Vertices sorted_leaves = leaves;
  std::sort(sorted_leaves.begin(), sorted_leaves.end());
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    Vertices expected;
    for (std::size_t i = 0; i < per_leaf; ++i) expected.emplace_back(l * per_leaf + i);
    expected.insert(expected.end(), spines.begin(), spines.end());
    if (neighbours(graph, leaves[l]) != expected) return std::nullopt;
  }
  for (const NodeId spine : spines) {
    if (neighbours(graph, spine) != sorted_leaves) return std::nullopt;
  }
  const auto level = [&](const TopologyLink& link) {
    return static_cast<std::size_t>(graph.is_switch(link.from) && graph.is_switch(link.to));
  };
  if (!alike(graph, level)) return std::nullopt;
  NetworkSpec spec;
  spec.type = "fat_tree";
  spec.set("nodes_per_switch", {per_leaf});
  spec.set("switches", {leaves.size()});
  spec.set("spines", {spines.size()});
  Vertices vertices = all_vertices(graph);
  vertices.resize(graph.num_nodes());
  vertices.insert(vertices.end(), leaves.begin(), leaves.end());
  vertices.insert(vertices.end(), spines.begin(), spines.end());
  return as_family(
      graph, spec, vertices,
      fmt::format("its leaves are '{}' to '{}', its spines '{}' to '{}'",
                  graph.vertex_name(leaves.front()), graph.vertex_name(leaves.back()),
                  graph.vertex_name(spines.front()), graph.vertex_name(spines.back())));
}

}  // namespace

std::optional<Topology> recognised_family(const Topology& graph) {
  if (graph.num_switches() != 0) return recognised_fat_tree(graph);
  auto grid = recognised_grid(graph);
  return grid ? std::move(grid) : recognised_mesh(graph);
}

}  // namespace espalier
