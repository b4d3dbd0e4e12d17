// Graphs that are networks of a family are recognised; graphs that nearly are, are not.
#include "hw/topology/families/family.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/routes/routing.h"
#include "tests/support/certify_schedule.h"
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
  return {
      make_torus({4, 4, 4}, kPlainLink),
      make_torus({3, 5}, kPlainLink),
      make_torus({2, 6}, kPlainLink),
      make_torus({12}, kPlainLink),
      make_mesh({5, 4}, kPlainLink),
      make_mesh({2, 2, 2}, kPlainLink),
      make_network(network_spec("torus", {{"dims", {4, 8}}, {"twist", {4}}}), kPlainLink),
      make_network(network_spec("torus", {{"dims", {2, 3, 5}}, {"twist", {1, 0, 2}}}), kPlainLink),
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
    Topology graph = as_graph(family);
    NetworkShape placed;
    for (std::size_t v = 0; v < graph.num_vertices(); ++v) placed.at.push_back({double(v), 0, 0});
    graph.set_shape(placed);
    const auto found = recognised_family(graph);
    CAPTURE(family.name());
    REQUIRE(found);
    REQUIRE(found->shape().at.size() == graph.num_vertices());
    for (std::size_t v = 0; v < graph.num_vertices(); ++v) {
      const NodeId own = graph.find_vertex(found->vertex_name(NodeId(v)));
      CHECK(found->shape().at[v].x == double(own.index()));
    }
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

// The network as a file may list it: nodes and links in a random order.
Topology in_any_order(const Topology& family, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> node(family.num_nodes());  // by place
  for (std::size_t p = 0; p < node.size(); ++p) {
    node[p] = p;
    std::swap(node[p], node[test::pick(random, p + 1)]);
  }
  std::vector<std::size_t> order(family.num_links());
  for (std::size_t l = 0; l < order.size(); ++l) {
    order[l] = l;
    std::swap(order[l], order[test::pick(random, l + 1)]);
  }
  Topology graph("mixed");
  for (std::size_t n = 0; n < node.size(); ++n) graph.add_node("v" + std::to_string(n));
  for (const std::size_t l : order) {
    const TopologyLink& link = family.link(LinkId(l));
    test::add_one_way(graph, node[link.from.index()], node[link.to.index()], link.spec);
  }
  return graph;
}

std::vector<Topology> grids_of_all_kinds() {
  return {make_torus({4, 4}, kPlainLink),
          make_torus({5, 5}, kPlainLink),
          make_torus({4, 4, 4}, kPlainLink),
          make_torus({12}, kPlainLink),
          make_mesh({4, 5}, kPlainLink),
          make_mesh({2, 3, 3}, kPlainLink),
          make_network(
              network_spec("grid", {{"dims", {2, 3, 4}},
                                    {"wrap", {1, 0, 1}},
                                    {"bandwidth", {16'000'000'000, 8'000'000'000, 3'000'000'000}}}),
              kPlainLink)};
}

TEST_CASE(
    "A grid whose nodes are listed in any order has the family's routes between their places") {
  for (const Topology& family : grids_of_all_kinds()) {
    for (std::uint32_t seed = 0; seed < 3; ++seed) {
      const auto found = recognised_family(in_any_order(family, seed));
      CAPTURE(family.name(), seed);
      REQUIRE(found);
      CHECK(found->vertex_name(NodeId(1)) == "v1");
      CHECK_THAT(found->shape().recognised,
                 Catch::Matchers::Contains("at (") && Catch::Matchers::EndsWith("follow"));
      const std::vector<std::uint32_t>& place = found->grid()->place_of_node;
      REQUIRE(place.size() == family.num_nodes());
      for (std::size_t l = 0; l < family.num_links(); ++l) {
        const TopologyLink& own = found->link(LinkId(l));
        const TopologyLink& link = family.link(LinkId(l));
        CHECK(place[own.from.index()] == link.from.value());
        CHECK(place[own.to.index()] == link.to.value());
        CHECK(own.spec == link.spec);
      }
      for (std::size_t a = 0; a < family.num_nodes(); ++a) {
        for (std::size_t b = 0; b < family.num_nodes(); ++b) {
          if (a == b) continue;
          CHECK(route_packet(*found, NodeId(a), NodeId(b)) ==
                route_packet(family, NodeId(place[a]), NodeId(place[b])));
        }
      }
    }
  }
}

// Messages and their routes at the family's places, sorted.
std::vector<std::string> messages_of(const Schedule& schedule, const GridShape& grid) {
  const auto place = [&](NodeId node) {
    return grid.place_of_node.empty() ? node.value() : grid.place_of_node[node.index()];
  };
  std::vector<std::string> all;
  for (const Transfer& t : schedule.transfers) {
    std::string text = fmt::format("step {} {} to {}, {}, {} B on", t.step, place(t.from),
                                   place(t.to), to_string(t.kind), schedule.bytes_of(t));
    for (const LinkId link : schedule.routes.links(t.route)) {
      text += fmt::format(" {}", link.value());
    }
    all.push_back(std::move(text));
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Ranks are numbered by node, so the family's ranks sit at the places of the graph's nodes.
TEST_CASE("Algorithms send the same messages on a grid whose nodes are listed in any order") {
  std::size_t compared = 0;
  for (const Topology& family : grids_of_all_kinds()) {
    const auto found = recognised_family(in_any_order(family, 4));
    REQUIRE(found);
    for (const char* name : {"ring", "2d_ring", "multitree", "multitree_translated", "direct",
                             "halving_doubling", "dbtree", "binomial"}) {
      const Generator& generator = *find_generator(name);
      CHECK(generator.unsuited(*found) == generator.unsuited(family));
      if (!generator.unsuited(family).empty()) continue;
      CollectiveRequest request;
      request.op = generator.ops.front();
      request.size = 4096 * family.num_nodes();
      CAPTURE(family.name(), generator.name, to_string(request.op));
      const auto messages = messages_of(generator.generate(*found, request), *found->grid());
      for (const std::uint32_t p : found->grid()->place_of_node) {
        // A ring follows the grid unless an order of ranks is given.
        if (generator.follows_rank_order() && std::string(name).find("ring") == std::string::npos) {
          request.rank_order.emplace_back(p);
        }
      }
      const bool same =
          messages == messages_of(generator.generate(family, request), *family.grid());
      CHECK(same);
      ++compared;
    }
  }
  CHECK(compared > 35);
}

TEST_CASE("2D-RING runs on a mesh whose first node may be at any border") {
  const Topology mesh = make_mesh({3, 3}, kPlainLink);
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const auto found = recognised_family(in_any_order(mesh, seed));
    REQUIRE(found);
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather}) {
      CollectiveRequest request;
      request.op = op;
      request.size = 3600;
      CAPTURE(seed, to_string(op));
      CHECK(certify(*found, find_generator("2d_ring")->generate(*found, request)).ok());
    }
  }
}

}  // namespace
}  // namespace espalier
