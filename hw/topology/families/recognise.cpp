// Graphs from files that are networks of a family.
#include <fmt/format.h>

#include <algorithm>
#include <map>
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

Vertices all_vertices(const Topology& graph) {
  Vertices vertices;
  for (std::size_t v = 0; v < graph.num_vertices(); ++v) vertices.emplace_back(v);
  return vertices;
}

// The graph with the family's shape and order of links. `vertices` are the graph's in the family's
// order; the nodes of a `grid` may stand in another one and keep their numbers. Nothing if the
// graph has other links than the family, or if links of a dimension or a level differ.
std::optional<Topology> as_family(const Topology& graph, const NetworkSpec& spec,
                                  const Vertices& vertices, const std::string& places,
                                  const GridShape* grid = nullptr) {
  if (problem_of(spec)) return std::nullopt;
  const Topology family = make_network(spec, graph.links().front().spec);
  if (family.num_links() != graph.num_links() || vertices.size() != family.num_vertices() ||
      vertices.size() != graph.num_vertices()) {
    return std::nullopt;
  }
  Topology result(graph.name());
  std::vector<std::size_t> place(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    place[vertices[v].index()] = v;
    if (v < graph.num_nodes()) {
      result.add_node(graph.vertex_name(NodeId(v)));
    } else {
      result.add_switch(graph.vertex_name(vertices[v]));
    }
  }
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> links;  // parallel ones in order
  for (std::size_t l = graph.num_links(); l-- > 0;) {
    const TopologyLink& link = graph.link(LinkId(l));
    links[{NodeId(place[link.from.index()]), NodeId(place[link.to.index()])}].emplace_back(l);
  }
  std::map<std::size_t, LinkSpec> specs;  // by dimension, or by the number of switches at the ends
  const auto own_vertex = [&](NodeId v) { return graph.is_switch(v) ? v : vertices[v.index()]; };
  for (std::size_t l = 0; l < family.num_links(); ++l) {
    const TopologyLink& link = family.link(LinkId(l));
    auto& parallel = links[{link.from, link.to}];
    if (parallel.empty()) return std::nullopt;
    const TopologyLink& own = graph.link(parallel.back());
    parallel.pop_back();
    const std::size_t kind =
        family.grid() ? grid_hop(family, LinkId(l)).dim
                      : std::size_t{family.is_switch(link.from)} + family.is_switch(link.to);
    if (!(specs.try_emplace(kind, own.spec).first->second == own.spec)) return std::nullopt;
    result.add_link(own_vertex(link.from), own_vertex(link.to), own.spec, own.out_name,
                    own.in_name);
  }
  NetworkShape shape = family.shape();
  if (grid != nullptr) shape.grid = *grid;
  for (std::size_t v = 0; v < graph.shape().at.size(); ++v) {
    shape.at.push_back(graph.shape().at[v < graph.num_nodes() ? v : vertices[v].index()]);
  }
  shape.recognised = fmt::format("the graph is {}: {}", family.name(), places);
  result.set_shape(std::move(shape));
  return result;
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
// last nodes are linked, and twisted if the last one is further in other dimensions. Parallel links
// match no grid, because rings and trees on a graph use them all (alg/routes/planes.h), and those
// on a grid do not.
GridShape grid_at_first_node(const Topology& graph, const std::vector<std::uint32_t>& dims) {
  GridShape grid(dims, false);
  grid.twist.assign(dims.size() * (dims.size() - 1) / 2, 0);
  for (std::size_t d = dims.size(); d-- > 0;) {
    Vertices last;  // nodes at the end of the line through node 0 or of one further on
    for (const NodeId near : neighbours(graph, NodeId(0))) {
      const auto at = grid.coordinates(near);
      const auto moved = std::find_if(at.begin(), at.end(), [](auto x) { return x != 0; });
      if (moved == at.begin() + static_cast<std::ptrdiff_t>(d) && *moved + 1 == dims[d]) {
        last.push_back(near);
      }
    }
    grid.wraps[d] = last.size() > (dims[d] == 2 ? 1 : 0);
    if (!grid.wraps[d]) continue;
    std::vector<std::int64_t> hops(dims.size(), 0);
    hops[d] = 1;
    for (std::size_t e = d + 1; e < dims.size(); ++e) {
      const NodeId at = grid.node_after(last.back(), hops);
      grid.twist[d + e - 1] = (dims[e] - grid.coordinates(at)[e]) % dims[e];
    }
  }
  const auto untwisted = std::count(grid.twist.begin(), grid.twist.end(), 0U);
  if (untwisted == static_cast<std::ptrdiff_t>(grid.twist.size())) grid.twist.clear();
  return grid;
}

// The node at each place, where nodes are listed in any order; empty if the search finds none. The
// first node with the fewest links is at place 0, and nodes beside it follow. Places with the most
// filled neighbours are filled first: they leave little choice, so the search seldom goes back.
Vertices nodes_at_places(const Topology& graph, const GridShape& grid) {
  constexpr std::uint64_t kTriesPerNode = 300;
  const std::size_t nodes = graph.num_nodes();
  std::vector<Vertices> around(nodes);  // by place, in each dimension minus and plus
  for (std::size_t way = 0; way < nodes * 2 * grid.dims.size(); ++way) {
    const NodeId place(way % nodes);
    around[place.index()].push_back(grid.neighbour(place, way / nodes / 2, way / nodes % 2 == 1));
  }
  Vertices order;
  Vertices open{NodeId(0)};
  std::vector<std::size_t> filled(nodes, 0);
  for (filled[0] = 1; !open.empty();) {
    const auto next = std::max_element(open.begin(), open.end(), [&](NodeId a, NodeId b) {
      return filled[a.index()] < filled[b.index()];
    });
    order.push_back(*next);
    open.erase(next);
    for (const NodeId other : around[order.back().index()]) {
      if (other.valid() && filled[other.index()]++ == 0) open.push_back(other);
    }
  }
  Vertices at(nodes);
  std::vector<bool> used(nodes, false);
  const auto is_filled = [&](NodeId place) { return place.valid() && at[place.index()].valid(); };
  const auto link_to = [&](NodeId node, NodeId place) {
    const auto& out = graph.out_links(node);
    const auto found = std::find_if(out.begin(), out.end(), [&](LinkId link) {
      return graph.link(link).to == at[place.index()];
    });
    return found == out.end() ? nullptr : &graph.link(*found);
  };
  // Links to filled places and no others, at the rates of the links at place 0.
  const auto fits = [&](NodeId node, const Vertices& places) {
    const auto& out = graph.out_links(node);
    const auto valid = [](NodeId place) { return place.valid(); };
    if (std::count_if(places.begin(), places.end(), valid) != std::distance(out.begin(), out.end()))
      return false;
    auto others = std::count_if(out.begin(), out.end(),
                                [&](LinkId link) { return used[graph.link(link).to.index()]; });
    for (std::size_t way = 0; way < places.size(); ++way) {
      if (!is_filled(places[way])) continue;
      const TopologyLink* link = link_to(node, places[way]);
      const NodeId beside = around[0][way | 1];
      if (link == nullptr ||
          (is_filled(beside) && !(link->spec == link_to(at[beside.index()], NodeId(0))->spec))) {
        return false;
      }
      --others;
    }
    return others == 0;
  };
  const Vertices all = all_vertices(graph);
  at[0] = *std::min_element(all.begin(), all.end(), [&](NodeId a, NodeId b) {
    return graph.out_links(a).size() < graph.out_links(b).size();
  });
  used[at[0].index()] = true;
  std::vector<std::size_t> tried(nodes, 0);
  std::size_t step = 1;
  for (std::uint64_t tries = kTriesPerNode * nodes; step < nodes && tries != 0; --tries) {
    const Vertices& places = around[order[step].index()];
    NodeId& here = at[order[step].index()];
    if (here.valid()) {  // the search has come back
      used[here.index()] = false;
      here = NodeId();
    }
    const auto beside = std::find_if(places.begin(), places.end(), is_filled);
    const auto& out = graph.out_links(at[beside->index()]);
    if (tried[step] == out.size()) {
      tried[step] = 0;
      if (--step == 0) return {};
      continue;
    }
    const NodeId node = graph.link(out[tried[step]++]).to;
    if (used[node.index()] || !fits(node, places)) continue;
    here = node;
    used[node.index()] = true;
    ++step;
  }
  return step == nodes ? at : Vertices();
}

NetworkSpec spec_of(const GridShape& grid) {
  NetworkSpec spec;
  const auto same = [&](bool wraps) {
    return std::count(grid.wraps.begin(), grid.wraps.end(), wraps) ==
           static_cast<std::ptrdiff_t>(grid.dims.size());
  };
  spec.type = same(true) ? "torus" : same(false) ? "mesh" : "grid";
  spec.set("dims", {grid.dims.begin(), grid.dims.end()});
  if (spec.type != "mesh") spec.set("twist", {grid.twist.begin(), grid.twist.end()});
  if (spec.type == "grid") spec.set("wrap", {grid.wraps.begin(), grid.wraps.end()});
  return spec;
}

// "'a' at (0, 0)"
std::string place_text(const Topology& graph, const GridShape& grid, NodeId node) {
  return fmt::format("'{}' at ({})", graph.vertex_name(node),
                     fmt::join(grid.coordinates(node), ", "));
}

std::size_t links_of(const GridShape& grid, std::size_t nodes) {
  std::size_t links = 0;
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    links += 2 * (grid.wraps[d] ? nodes : nodes - nodes / grid.dims[d]);
  }
  return links;
}

std::optional<Topology> recognised_grid(const Topology& graph) {
  const std::size_t nodes = graph.num_nodes();
  std::vector<std::vector<std::uint32_t>> sides;
  add_factors(static_cast<std::uint32_t>(nodes), {}, sides);
  for (const auto& dims : sides) {
    const GridShape grid = grid_at_first_node(graph, dims);
    if (links_of(grid, nodes) != graph.num_links()) continue;
    auto found = as_family(
        graph, spec_of(grid), all_vertices(graph),
        fmt::format("its nodes stand in the order of their places, {}, {}, and so on to {}",
                    place_text(graph, grid, NodeId(0)), place_text(graph, grid, NodeId(1)),
                    place_text(graph, grid, NodeId(nodes - 1))));
    if (found) return found;
  }
  std::stable_sort(sides.begin(), sides.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (const auto& dims : sides) {
    for (std::size_t rings = 0; rings < std::size_t{1} << dims.size(); ++rings) {
      GridShape grid(dims, false);
      for (std::size_t d = 0; d < dims.size(); ++d) grid.wraps[d] = (rings >> d & 1) != 0;
      if (links_of(grid, nodes) != graph.num_links()) continue;
      const Vertices at = nodes_at_places(graph, grid);
      if (at.empty()) continue;
      grid.place_of_node.resize(nodes);
      std::vector<std::string> places;  // on the lines through place 0, which imply all others
      for (const NodeId node : at) {
        grid.place_of_node[node.index()] = static_cast<std::uint32_t>(grid.node_of_place.size());
        grid.node_of_place.push_back(node.value());
        const auto x = grid.coordinates(node);
        if (static_cast<std::size_t>(std::count(x.begin(), x.end(), 0U)) + 1 >= x.size()) {
          places.push_back(place_text(graph, grid, node));
        }
      }
      auto found =
          as_family(graph, spec_of(grid), at,
                    fmt::format("{}; other places follow", fmt::join(places, ", ")), &grid);
      if (found) return found;
    }
  }
  return std::nullopt;
}

std::optional<Topology> recognised_mesh(const Topology& graph) {
  const std::size_t nodes = graph.num_nodes();
  if (nodes < 4 || graph.num_links() != nodes * (nodes - 1)) return std::nullopt;
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
  Vertices spines;
  for (std::size_t v = graph.num_nodes(); v < graph.num_vertices(); ++v) {
    if (std::find(leaves.begin(), leaves.end(), NodeId(v)) == leaves.end()) {
      spines.emplace_back(v);
    }
  }
  if (leaves.size() < 2 || spines.empty() ||
      graph.num_links() != 2 * (graph.num_nodes() + leaves.size() * spines.size())) {
    return std::nullopt;
  }
  NetworkSpec spec;
  spec.type = "fat_tree";
  spec.set("nodes_per_switch", {graph.num_nodes() / leaves.size()});
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
