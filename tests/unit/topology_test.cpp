#include "hw/topology/topology.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace espalier {
namespace {

std::string joined_out_names(const Topology& topology, NodeId node) {
  std::string names;
  for (const LinkId l : topology.out_links(node)) names += topology.link(l).out_name;
  return names;
}

std::string joined_in_names(const Topology& topology, NodeId node) {
  std::string names;
  for (const LinkId l : topology.in_links(node)) names += topology.link(l).in_name;
  return names;
}

std::vector<std::size_t> neighbours(const Topology& topology, std::size_t node) {
  std::vector<std::size_t> result;
  for (const LinkId l : topology.out_links(NodeId(node))) {
    result.push_back(topology.link(l).to.index());
  }
  return result;
}

TEST_CASE("Each dimension of a grid has its own rings or lines, links, rates and latencies") {
  const Topology grid = make_grid({{"dims", {3, 2, 2}},
                                   {"wrap", {0, 1, 1}},
                                   {"links", {2, 1, 0}},
                                   {"bandwidth", {0, 8'000'000'000, 0}},
                                   {"latency", {0, 0, 500'000}}},
                                  test::kPlainLink);
  CHECK(grid.name() == "grid 3x2x2");
  // A ring of two nodes has a link for each direction; with one link it is a line.
  CHECK(joined_out_names(grid, NodeId(0)) == "dusee_2");
  CHECK(joined_in_names(grid, NodeId(1)) == "ww_2ee_2sud");
  for (const TopologyLink& link : grid.links()) {
    const bool is_y = link.out_name == "n" || link.out_name == "s";
    const bool is_z = link.out_name == "d" || link.out_name == "u";
    CHECK(link.spec.bytes_per_second == (is_y ? 8'000'000'000 : test::kPlainLink.bytes_per_second));
    CHECK(link.spec.latency_ps == (is_z ? 500'000 : test::kPlainLink.latency_ps));
  }
  for (std::size_t l = 0; l < grid.num_links(); ++l) {
    const GridHop hop = grid_hop(grid, LinkId(l));
    const TopologyLink& link = grid.link(LinkId(l));
    const std::uint32_t lane = link.out_name.size() > 1 ? 1 : 0;
    CHECK(grid_link(grid, link.from, hop.dim, hop.plus, lane) == LinkId(l));
    CHECK(hop.plus == (link.out_name.find_first_of("esu") == 0));
  }
}

TEST_CASE("The links around a twisted torus lead further in other dimensions") {
  const Topology torus =
      make_grid({{"dims", {4, 4, 8}}, {"wrap", {1, 1, 1}}, {"twist", {0, 4, 4}}}, test::kPlainLink);
  const GridShape& grid = *torus.grid();
  CHECK(grid.neighbour(grid.node_at({3, 0, 0}), 0, true) == grid.node_at({0, 0, 4}));
  CHECK(grid.neighbour(grid.node_at({1, 0, 6}), 1, false) == grid.node_at({1, 3, 2}));
  CHECK(grid.neighbour(grid.node_at({1, 1, 7}), 2, true) == grid.node_at({1, 1, 0}));
  CHECK_FALSE(grid.closes(0));
  CHECK(grid.closes(2));
  for (std::size_t l = 0; l < torus.num_links(); ++l) {
    const TopologyLink& link = torus.link(LinkId(l));
    const GridHop hop = grid_hop(torus, LinkId(l));
    CHECK(grid.neighbour(link.from, hop.dim, hop.plus) == link.to);
    CHECK(grid.neighbour(link.to, hop.dim, !hop.plus) == link.from);
  }
  // Hops lead to one node in any order.
  const NodeId start = grid.node_at({2, 3, 5});
  CHECK(grid.node_after(grid.node_after(start, {3, 0, 2}), {0, -6, 0}) ==
        grid.node_after(grid.node_after(start, {0, -6, 0}), {3, 0, 2}));
}

TEST_CASE("Grid nodes are numbered along X first and named row first") {
  const Topology torus = make_torus({4, 3}, test::kPlainLink);
  CHECK(torus.num_nodes() == 12);
  CHECK(torus.num_switches() == 0);
  CHECK(torus.vertex_name(NodeId(0)) == "r_0_0");
  CHECK(torus.vertex_name(NodeId(6)) == "r_1_2");
  CHECK(torus.find_vertex("r_2_3") == NodeId(11));
  CHECK_FALSE(torus.find_vertex("r_3_2").valid());
  CHECK(torus.grid()->coordinates(NodeId(6)) == std::vector<std::uint32_t>{2, 1});

  const Topology cube = make_mesh({2, 3, 4}, test::kPlainLink);
  CHECK(cube.vertex_name(NodeId(1 + 2 * (2 + 3 * 3))) == "r_3_2_1");
  CHECK(make_mesh({3}, test::kPlainLink).vertex_name(NodeId(2)) == "r_2");
}

TEST_CASE("Coordinates and node numbers are inverse to each other") {
  const Topology cube = make_torus({3, 4, 5}, test::kPlainLink);
  for (std::size_t n = 0; n < cube.num_nodes(); ++n) {
    CHECK(cube.grid()->node_at(cube.grid()->coordinates(NodeId(n))) == NodeId(n));
  }
}

TEST_CASE("Ports come in the order d u n s w e") {
  const Topology cube = make_torus({3, 3, 3}, test::kPlainLink);
  const std::size_t centre = 1 + 3 * (1 + 3 * 1);
  CHECK(joined_out_names(cube, NodeId(centre)) == "dunswe");
  CHECK(neighbours(cube, centre) == std::vector<std::size_t>{4, 22, 10, 16, 12, 14});
  const Topology plane = make_torus({4, 4}, test::kPlainLink);
  CHECK(joined_out_names(plane, NodeId(5)) == "nswe");
  CHECK(neighbours(plane, 5) == std::vector<std::size_t>{1, 9, 4, 6});
  CHECK(neighbours(plane, 0) == std::vector<std::size_t>{12, 4, 3, 1});
}

TEST_CASE("A link enters its neighbour on the side it comes from") {
  const Topology cube = make_torus({3, 3, 3}, test::kPlainLink);
  const std::string opposite = "dunswe";
  for (const TopologyLink& link : cube.links()) {
    const std::size_t out = opposite.find(link.out_name);
    CHECK(opposite.find(link.in_name) == (out ^ 1U));
  }
}

TEST_CASE("Port numbers are positions in the port lists of both ends") {
  for (const Topology& topology :
       {make_torus({4, 2, 3}, test::kPlainLink), make_mesh({3, 3}, test::kPlainLink)}) {
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      const auto& out = topology.out_links(NodeId(v));
      for (std::size_t p = 0; p < out.size(); ++p) {
        CHECK(topology.link(out[p]).from == NodeId(v));
        CHECK(topology.link(out[p]).out_port == p);
      }
      const auto& in = topology.in_links(NodeId(v));
      for (std::size_t p = 0; p < in.size(); ++p) {
        CHECK(topology.link(in[p]).to == NodeId(v));
        CHECK(topology.link(in[p]).in_port == p);
      }
      CHECK(joined_in_names(topology, NodeId(v)).size() == in.size());
    }
  }
}

TEST_CASE("A torus two wide has two parallel links each way and one a single wide has none") {
  const Topology ring = make_torus({2}, test::kPlainLink);
  CHECK(ring.num_links() == 4);
  CHECK(neighbours(ring, 0) == std::vector<std::size_t>{1, 1});
  CHECK(joined_out_names(ring, NodeId(0)) == "we");
  CHECK(ring.link_between(NodeId(0), NodeId(1)) == ring.out_links(NodeId(0))[0]);

  const Topology column = make_torus({1, 4}, test::kPlainLink);
  CHECK(column.num_links() == 8);
  CHECK(joined_out_names(column, NodeId(2)) == "ns");

  CHECK(make_mesh({2}, test::kPlainLink).num_links() == 2);
}

TEST_CASE("Link counts of tori and meshes follow their dimensions") {
  CHECK(make_torus({4, 4}, test::kPlainLink).num_links() == 4 * 16);
  CHECK(make_torus({8, 8}, test::kPlainLink).num_links() == 4 * 64);
  CHECK(make_torus({3, 4, 5}, test::kPlainLink).num_links() == 6 * 60);
  CHECK(make_mesh({4, 4}, test::kPlainLink).num_links() == 2 * 2 * 4 * 3);
  CHECK(make_mesh({3, 4, 5}, test::kPlainLink).num_links() == 2 * (2 * 20 + 3 * 15 + 4 * 12));
}

TEST_CASE("A mesh does not wrap around") {
  const Topology mesh = make_mesh({3, 3}, test::kPlainLink);
  CHECK(joined_out_names(mesh, NodeId(0)) == "se");
  CHECK(joined_out_names(mesh, NodeId(4)) == "nswe");
  CHECK(joined_out_names(mesh, NodeId(8)) == "nw");
  CHECK_FALSE(mesh.link_between(NodeId(0), NodeId(2)).valid());
  CHECK_FALSE(mesh.grid()->wraps[0]);
  CHECK(make_torus({3, 3}, test::kPlainLink).grid()->wraps[1]);
}

TEST_CASE("Impossible grids are refused") {
  CHECK_THROWS_AS(make_torus({}, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_torus({2, 2, 2, 2}, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_torus({4, 0}, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_mesh({1}, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_mesh({1, 1, 1}, test::kPlainLink), std::invalid_argument);
  CHECK_NOTHROW(make_mesh({1, 2, 1}, test::kPlainLink));
}

TEST_CASE("Malformed graphs are refused while they are built") {
  Topology topology("hand made");
  const NodeId a = topology.add_node("a");
  const NodeId b = topology.add_node("b");
  const NodeId s = topology.add_switch("s");
  CHECK(topology.is_switch(s));
  CHECK_FALSE(topology.is_switch(b));
  CHECK_THROWS_AS(topology.add_node("late"), std::invalid_argument);
  CHECK_THROWS_AS(topology.add_switch("a"), std::invalid_argument);
  topology.add_link(a, b, test::kPlainLink, "x", "y");
  CHECK_THROWS_AS(topology.add_link(a, s, test::kPlainLink, "x", "i"), std::invalid_argument);
  CHECK_THROWS_AS(topology.add_link(s, b, test::kPlainLink, "o", "y"), std::invalid_argument);
  CHECK_THROWS_AS(topology.add_link(a, a, test::kPlainLink, "self", "self"), std::invalid_argument);
  CHECK_THROWS_AS(topology.add_link(a, NodeId(3), test::kPlainLink, "z", "z"),
                  std::invalid_argument);
  CHECK_THROWS_AS(topology.add_link(NodeId(), b, test::kPlainLink, "z", "z"),
                  std::invalid_argument);
  CHECK(topology.num_links() == 1);
}

TEST_CASE("A vertex out of reach in either direction is found") {
  Topology topology("one way");
  const NodeId a = topology.add_node("a");
  const NodeId b = topology.add_node("b");
  const NodeId c = topology.add_node("c");
  CHECK(topology.find_disconnected() == b);
  topology.add_link(a, b, test::kPlainLink, "0", "0");
  topology.add_link(b, a, test::kPlainLink, "0", "0");
  CHECK(topology.find_disconnected() == c);
  topology.add_link(c, a, test::kPlainLink, "0",
                    "1");  // c reaches the others, but nobody reaches c
  CHECK(topology.find_disconnected() == c);
  topology.add_link(b, c, test::kPlainLink, "1", "0");
  CHECK_FALSE(topology.find_disconnected().valid());
}

TEST_CASE("Every grid is connected") {
  for (const std::vector<std::uint32_t>& dims :
       {std::vector<std::uint32_t>{2}, {1, 5}, {2, 3}, {4, 4}, {2, 2, 2}, {3, 1, 4}}) {
    CHECK_FALSE(make_torus(dims, test::kPlainLink).find_disconnected().valid());
    CHECK_FALSE(make_mesh(dims, test::kPlainLink).find_disconnected().valid());
  }
}

}  // namespace
}  // namespace espalier
