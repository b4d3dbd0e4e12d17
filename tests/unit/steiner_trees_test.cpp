// Trees over terminals and other vertices, and the partition that their prices find.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "alg/bounds/bounds.h"
#include "alg/flow/steiner_trees.h"
#include "test_graphs.h"
#include "tests/support/networks.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

// Whether the edges are a tree that joins the terminals.
bool is_tree_over(const std::vector<std::uint32_t>& tree, const std::vector<SteinerEdge>& edges,
                  const std::vector<std::uint32_t>& terminals) {
  std::set<std::uint32_t> reached{terminals.front()};
  std::set<std::uint32_t> touched;
  for (std::size_t round = 0; round < tree.size(); ++round) {
    for (const std::uint32_t e : tree) {
      touched.insert({edges[e].a, edges[e].b});
      if (reached.count(edges[e].a) + reached.count(edges[e].b) == 1) {
        reached.insert({edges[e].a, edges[e].b});
      }
    }
  }
  return reached == touched && touched.size() == tree.size() + 1 &&
         std::all_of(terminals.begin(), terminals.end(),
                     [&](std::uint32_t t) { return reached.count(t) != 0; });
}

// Each edge is a link of its own.
struct Graph {
  std::vector<SteinerEdge> edges;
  std::vector<double> rates;

  void add(std::uint32_t a, std::uint32_t b, double rate) {
    edges.push_back({a, b, {static_cast<std::uint32_t>(edges.size())}});
    rates.push_back(rate);
  }
  [[nodiscard]] SteinerTrees trees(std::uint32_t vertices, std::vector<SteinerItem> items,
                                   bool directed = false) const {
    return {vertices, rates, edges, std::move(items), directed};
  }
};

Graph full_mesh(std::uint32_t vertices, double rate) {
  Graph graph;
  for (std::uint32_t a = 0; a < vertices; ++a) {
    for (std::uint32_t b = a + 1; b < vertices; ++b) graph.add(a, b, rate);
  }
  return graph;
}

Graph random_graph(std::mt19937& random, std::uint32_t vertices) {
  Graph graph;
  for (std::uint32_t v = 1; v < vertices; ++v) {
    const auto before = static_cast<std::uint32_t>(random() % v);
    graph.add(v, before, static_cast<double>(1 + random() % 4));
  }
  for (std::uint32_t more = 0; more < vertices; ++more) {
    const auto a = static_cast<std::uint32_t>(random() % vertices);
    const auto b = static_cast<std::uint32_t>(random() % vertices);
    if (a != b) graph.add(a, b, static_cast<double>(1 + random() % 4));
  }
  return graph;
}

Topology network_of(const Graph& graph, std::uint32_t vertices) {
  Topology network("random");
  for (std::uint32_t v = 0; v < vertices; ++v) network.add_node("n" + std::to_string(v));
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const LinkSpec spec{1, static_cast<std::uint64_t>(graph.rates[e]) * 1'000'000'000};
    test::add_cable(network, graph.edges[e].a, graph.edges[e].b, spec, spec);
  }
  return network;
}

// The largest 2 (p - 1) / C over all partitions whose every part holds a member, by trying all.
double best_partition(const Topology& network, const std::vector<bool>& member) {
  const std::size_t n = network.num_nodes();
  std::vector<std::size_t> part(n, 0);
  double best = 0;
  const auto visit = [&](const auto& self, std::size_t v, std::size_t parts) -> void {
    if (v < n) {
      for (part[v] = 0; part[v] <= parts; ++part[v])
        self(self, v + 1, std::max(parts, part[v] + 1));
      return;
    }
    std::vector<bool> has(parts, false);
    for (std::size_t w = 0; w < n; ++w) has[part[w]] = has[part[w]] || member[w];
    if (parts < 2 || std::find(has.begin(), has.end(), false) != has.end()) return;
    double rate = 0;
    for (const TopologyLink& link : network.links()) {
      if (part[link.from.index()] != part[link.to.index()]) {
        rate += static_cast<double>(link.spec.bytes_per_second);
      }
    }
    best = std::max(best, 2 * static_cast<double>(parts - 1) / rate);
  };
  visit(visit, 0, 0);
  return best;
}

}  // namespace

TEST_CASE("Trees join all terminals without a circle, and the busiest edge is told") {
  constexpr std::uint32_t seed = 1;
  std::mt19937 random(seed);
  CAPTURE(seed);
  for (int round = 0; round < 30; ++round) {
    const auto vertices = static_cast<std::uint32_t>(4 + random() % 30);
    const Graph graph = random_graph(random, vertices);
    std::vector<std::uint32_t> terminals(vertices);
    std::iota(terminals.begin(), terminals.end(), 0U);
    std::shuffle(terminals.begin(), terminals.end(), random);
    terminals.resize(2 + random() % (vertices - 2));
    SteinerTrees search = graph.trees(vertices, {{terminals, 1, {}}});
    const auto trees = search.find({5});
    REQUIRE(trees.size() == 5);
    std::vector<double> load(graph.edges.size(), 0);
    for (const SteinerTrees::Tree& tree : trees) {
      CHECK(is_tree_over(tree.edges, graph.edges, terminals));
      for (const std::uint32_t e : tree.edges) load[e] += 1 / graph.rates[e];
    }
    CHECK(search.busiest() == Approx(*std::max_element(load.begin(), load.end())));
  }
}

TEST_CASE("Twelve trees over four of eight connected vertices fill all edges that count") {
  // Parts {a}, {b}, {c}, {d and the others}: 36 directed edges out for 2 x 3 crossings.
  SteinerTrees search = full_mesh(8, 1).trees(8, {{{0, 1, 2, 3}, 1, {}}});
  REQUIRE(search.find({12}).size() == 12);
  CHECK(search.busiest() / 12 == Approx(1.0 / 6));
}

TEST_CASE("Terminals that no edge reaches have no trees") {
  Graph graph;
  graph.add(0, 1, 1);
  CHECK(graph.trees(3, {{{0, 2}, 1, {}}}).find({2}).empty());
  CHECK(graph.trees(24, {{{0, 2, 5, 7, 9, 11, 13, 15}, 1, {}}}).find({2}).empty());
}

TEST_CASE("Trees of two items share links by their bytes and stay where they may be") {
  // A square 0 1 2 3: item a from 0 to 1, item b of three times the bytes from 3 to 2.
  Graph square;
  for (std::uint32_t v = 0; v < 4; ++v) square.add(v, (v + 1) % 4, 1);
  square.add(3, 2, 1);
  const std::vector<SteinerItem> items{{{1, 0}, 1, {}}, {{2, 3}, 3, {}}};
  SteinerTrees search = square.trees(4, items, true);
  const auto trees = search.find({2, 6});
  REQUIRE(trees.size() == 8);
  // Two of b's bytes take the link 3 2; the third one and a's byte share 0 1. A tree has half a
  // byte.
  CHECK(search.busiest() == Approx(4));
  std::vector<SteinerItem> apart = items;
  for (SteinerItem& item : apart) item.within = item.terminals;
  SteinerTrees own = square.trees(4, apart, true);
  for (const SteinerTrees::Tree& tree : own.find({2, 6})) CHECK(tree.edges.size() == 1);
  CHECK(own.busiest() == Approx(6));
}

TEST_CASE("The bound of an all_reduce whose relays add is the best partition or close to it") {
  constexpr std::uint32_t seed = 1;
  std::mt19937 random(seed);
  CAPTURE(seed);
  double sum = 0;
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    const auto vertices = static_cast<std::uint32_t>(3 + random() % 5);
    const Topology network = network_of(random_graph(random, vertices), vertices);
    Scope scope;
    scope.groups.emplace_back();
    std::vector<bool> member(vertices, false);
    for (std::uint32_t v = 0; v < vertices; ++v) {
      if (v < 2 || random() % 2 == 0) {
        scope.groups.front().members.emplace_back(v);
        member[v] = true;
      }
    }
    const double best = best_partition(network, member);
    const double found =
        scoped_bound(network, CollectiveOp::all_reduce, 1 << 30, scope).seconds / (1 << 30);
    CHECK(found <= best * (1 + 1e-3));
    CHECK(found >= 0.8 * best);
    sum += found / best;
  }
  CHECK(sum / kRounds >= 0.98);
}

TEST_CASE("Eight connected nodes of which four take part need a partition in four parts") {
  const Topology network = make_fully_connected(8, kPlainLink);
  Scope scope;
  scope.groups = {RankGroup{{NodeId(0), NodeId(1), NodeId(2), NodeId(3)}}};
  const CollectiveBound bound = scoped_bound(network, CollectiveOp::all_reduce, 1 << 30, scope);
  const auto rate = static_cast<double>(kPlainLink.bytes_per_second);
  CHECK(bound.seconds == Approx((1 << 30) / (6 * rate)).epsilon(1e-3));
  CHECK(bound.binding == "partition into 4 parts");
}
