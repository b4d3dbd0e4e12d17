// Graphs that are networks of a family are recognised; graphs that nearly are, are not.
#include "hw/topology/families/family.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "alg/routes/routing.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using test::kPlainLink;

// The same vertices with links in another order and other names; link `changed` has another rate,
// link `left_out` is missing.
Topology as_graph(const Topology& family, std::size_t changed = ~std::size_t{0},
                  std::size_t left_out = ~std::size_t{0}) {
  Topology graph("graph");
  for (std::size_t v = 0; v < family.num_vertices(); ++v) {
    const std::string name = "v" + std::to_string(v);
    static_cast<void>(family.is_switch(NodeId(v)) ? graph.add_switch(name) : graph.add_node(name));
  }
  std::vector<std::size_t> order(family.num_links());
  std::mt19937 random(3);
  for (std::size_t l = 0; l < order.size(); ++l) {
    order[l] = l;
    std::swap(order[l], order[test::pick(random, l + 1)]);
  }
  for (const std::size_t l : order) {
    if (l == left_out) continue;
    const TopologyLink& link = family.link(LinkId(l));
    LinkSpec spec = link.spec;
    if (l == changed) spec.bytes_per_second /= 2;
    test::add_one_way(graph, link.from.index(), link.to.index(), spec);
  }
  return graph;
}

std::vector<Topology> families_with_shapes() {
  const auto grid = [](const KeyValues& values) {
    return make_network(network_spec("grid", values), kPlainLink);
  };
  return {make_torus({4, 4, 4}, kPlainLink),
          make_torus({3, 5}, kPlainLink),
          make_torus({2, 6}, kPlainLink),
          make_torus({12}, kPlainLink),
          make_mesh({5, 4}, kPlainLink),
          make_mesh({2, 2, 2}, kPlainLink),
          grid({{"dims", {4, 3}},
                {"wrap", {1, 0}},
                {"bandwidth", {16'000'000'000, 8'000'000'000}},
                {"latency", {150'000, 500'000}}}),
          make_fully_connected(6, kPlainLink),
          make_fat_tree(3, 4, 2, kPlainLink),
          make_fat_tree(1, 5, 3, kPlainLink)};
}

TEST_CASE("A graph of a grid, a full mesh or a fat tree has the family's links, ports and routes") {
  for (const Topology& family : families_with_shapes()) {
    const auto found = recognised_family(as_graph(family));
    CAPTURE(family.name());
    REQUIRE(found);
    CHECK(found->name() == "graph");
    CHECK(found->vertex_name(NodeId(1)) == "v1");
    CHECK_THAT(found->shape().recognised,
               Catch::Matchers::StartsWith("the graph is " + family.name()));
    REQUIRE(found->num_links() == family.num_links());
    for (std::size_t l = 0; l < family.num_links(); ++l) {
      const TopologyLink& own = found->link(LinkId(l));
      const TopologyLink& link = family.link(LinkId(l));
      CHECK((own.from == link.from && own.to == link.to && own.spec == link.spec));
    }
    for (std::size_t a = 0; a < family.num_nodes(); ++a) {
      for (std::size_t b = 0; b < family.num_nodes(); ++b) {
        if (a == b) continue;
        CHECK(route_packet(*found, NodeId(a), NodeId(b)) ==
              route_packet(family, NodeId(a), NodeId(b)));
      }
    }
  }
}

TEST_CASE("A graph with one slower link or without one link is no network of a family") {
  for (const Topology& family : families_with_shapes()) {
    CAPTURE(family.name());
    CHECK_FALSE(recognised_family(as_graph(family, 5)));
    CHECK_FALSE(recognised_family(as_graph(family, ~std::size_t{0}, 5)));
  }
}

TEST_CASE("A torus of parallel links stays a graph, whose rings and trees use them all") {
  CHECK_FALSE(recognised_family(as_graph(
      make_network(network_spec("torus", {{"dims", {4, 3}}, {"links", {2, 2}}}), kPlainLink))));
}

TEST_CASE("A torus whose nodes are listed in another order stays a graph") {
  const Topology torus = make_torus({5, 5}, kPlainLink);
  Topology graph("mixed");
  for (std::size_t n = 0; n < 25; ++n) graph.add_node("v" + std::to_string(n));
  for (const TopologyLink& link : torus.links()) {
    test::add_one_way(graph, link.from.index() * 2 % 25, link.to.index() * 2 % 25, kPlainLink);
  }
  CHECK_FALSE(recognised_family(graph));
}

}  // namespace
}  // namespace espalier
