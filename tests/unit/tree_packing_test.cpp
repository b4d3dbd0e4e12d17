// Trees at the optimal rate: the flows, the rate, the packings, and the switches that are replaced.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

#include "alg/certify/certifier.h"
#include "alg/flow/max_flow.h"
#include "alg/generators/generator.h"
#include "alg/packing/pack_graph.h"
#include "alg/packing/switch_removal.h"
#include "alg/packing/tree_packing.h"
#include "alg/routes/links.h"
#include "alg/schedule/schedule_table.h"
#include "test_graphs.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

// Strongly connected: a ring of one-way links, and more links with rates of their own.
Topology random_one_way(std::mt19937& random) {
  const std::size_t nodes = 3 + test::pick(random, 5);
  Topology topology("random");
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node("n" + std::to_string(n));
  const auto link = [&](std::size_t a, std::size_t b, std::size_t number) {
    const std::uint64_t rate = 1'000'000'000 * (1 + test::pick(random, 4));
    topology.add_link(NodeId(a), NodeId(b), {150'000, rate}, "o" + std::to_string(number),
                      "i" + std::to_string(number));
  };
  for (std::size_t n = 0; n < nodes; ++n) link(n, (n + 1) % nodes, n);
  const std::size_t more = test::pick(random, 2 * nodes);
  for (std::size_t k = 0; k < more; ++k) {
    const std::size_t a = test::pick(random, nodes);
    const std::size_t b = test::pick(random, nodes);
    if (a != b) link(a, b, nodes + k);
  }
  return topology;
}

// The least rate out of a set per node in it, over all sets that lack a node.
double best_rate_by_all_sets(const PackGraph& graph) {
  double least = 1e300;
  for (std::uint32_t set = 1; set + 1 < (1U << graph.vertices); ++set) {
    double out = 0;
    int inside = 0;
    for (std::size_t n = 0; n < graph.nodes; ++n) inside += (set >> n & 1U) != 0 ? 1 : 0;
    if (inside == 0 || inside == static_cast<int>(graph.nodes)) continue;
    for (const PackEdge& e : graph.edges) {
      if ((set >> e.from & 1U) != 0 && (set >> e.to & 1U) == 0) out += static_cast<double>(e.rate);
    }
    least = std::min(least, out / inside);
  }
  return least;
}

// Every root has its trees, each spans all nodes, and no edge is overbooked.
void require_packing(const PackGraph& graph, const std::vector<std::int64_t>& units,
                     const std::vector<PackedTree>& trees, std::int64_t per_root) {
  std::vector<std::int64_t> used(graph.edges.size(), 0);
  std::vector<std::int64_t> of_root(graph.nodes, 0);
  for (const PackedTree& tree : trees) {
    of_root[tree.root] += tree.units;
    std::vector<bool> has(graph.nodes, false);
    has[tree.root] = true;
    for (const std::uint32_t e : tree.edges) {
      used[e] += tree.units;
      REQUIRE(has[graph.edges[e].from]);
      REQUIRE_FALSE(has[graph.edges[e].to]);
      has[graph.edges[e].to] = true;
    }
    REQUIRE(tree.edges.size() + 1 == graph.nodes);
  }
  for (const std::int64_t u : of_root) REQUIRE(u == per_root);
  for (std::size_t e = 0; e < used.size(); ++e) REQUIRE(used[e] <= units[e]);
}

}  // namespace

TEST_CASE("A maximum flow equals the least cut of all sets, and names the smallest such set") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t vertices = 2 + test::pick(random, 7);
    SmallFlow flow(vertices);
    WideFlow wide(vertices);
    std::vector<std::tuple<std::size_t, std::size_t, std::int64_t>> arcs;
    for (std::size_t a = 0; a < 3 * vertices; ++a) {
      const std::size_t from = test::pick(random, vertices);
      const std::size_t to = test::pick(random, vertices);
      if (from == to) continue;
      arcs.emplace_back(from, to, static_cast<std::int64_t>(test::pick(random, 20)));
      flow.add_arc(from, to, std::get<2>(arcs.back()));
      wide.add_arc(from, to, WideAmount{std::get<2>(arcs.back())} << 90);
    }
    // Sets with the source, vertex 0, and without the sink, the last vertex.
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::size_t smallest = 0;
    for (std::size_t set = 1; set < std::size_t{1} << (vertices - 1); set += 2) {
      std::int64_t cut = 0;
      for (const auto& [from, to, capacity] : arcs) {
        if ((set >> from) % 2 == 1 && (set >> to) % 2 == 0) cut += capacity;
      }
      // Of all least cuts, one set is inside of all others.
      smallest = cut < least ? set : cut == least ? smallest & set : smallest;
      least = std::min(least, cut);
    }
    CHECK(flow.max_flow(0, vertices - 1, 5) == std::min<std::int64_t>(least, 5));
    CHECK(flow.max_flow(0, vertices - 1) == least);
    CHECK(static_cast<std::int64_t>(wide.max_flow(0, vertices - 1) >> 90) == least);
    for (std::size_t v = 0; v < vertices; ++v) {
      CHECK(flow.on_source_side(v) == ((smallest >> v) % 2 == 1));
      CHECK(wide.on_source_side(v) == ((smallest >> v) % 2 == 1));
    }
  }
}

TEST_CASE("The rate of an all-gather is that of the narrowest set of vertices") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Topology topology = random_one_way(random);
    for (const bool reversed : {false, true}) {
      const PackGraph graph = pack_graph(topology, reversed);
      CHECK(best_root_rate(graph) == Approx(best_rate_by_all_sets(graph)).epsilon(1e-9));
    }
  }
}

TEST_CASE("Out-trees fill random networks of one-way links of different rates") {
  test::ShareOfCases share(4);
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    if (!share.take()) continue;
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Topology topology = random_one_way(random);
    const PackGraph graph = pack_graph(topology, test::pick(random, 2) == 1);
    const double rate = best_root_rate(graph);
    const auto trees = static_cast<std::uint32_t>(1 + test::pick(random, 4));
    const UnitRate unit = best_unit_rate(graph, trees, rate);
    CHECK(unit.loss(rate) >= -1e-9);
    require_packing(
        graph, unit.units,
        pack_out_trees(graph, unit.units, std::vector<std::int64_t>(graph.nodes, trees), false),
        trees);
  }
}

TEST_CASE("Trees that exchange edges are lower, and load no edge more") {
  const Topology torus = make_torus({4, 4}, LinkSpec{150'000, 16'000'000'000});
  const PackGraph graph = pack_graph(torus, false);
  constexpr std::int64_t kTrees = 4;
  const UnitRate unit = best_unit_rate(graph, kTrees, best_root_rate(graph));
  const std::vector<std::int64_t> demand(graph.nodes, kTrees);
  const std::vector<PackedTree> trees = pack_out_trees(graph, unit.units, demand, false);
  const std::vector<std::uint64_t> hop(graph.edges.size(), 1'000'000);
  const std::vector<PackedTree> lower = lower_trees(graph, unit.units, hop, trees);
  require_packing(graph, unit.units, lower, kTrees);
  const auto height = [&](const std::vector<PackedTree>& packed) {
    std::uint32_t most = 0;
    for (const PackedTree& tree : packed) {
      std::vector<std::uint32_t> depth(graph.nodes, 0);
      for (const std::uint32_t e : tree.edges) {
        depth[graph.edges[e].to] = depth[graph.edges[e].from] + 1;
        most = std::max(most, depth[graph.edges[e].to]);
      }
    }
    return most;
  };
  CAPTURE(height(trees), height(lower));
  CHECK(height(lower) < height(trees));
}

TEST_CASE("Large networks are packed in batches with the same guarantee") {
  const Topology torus = make_torus({8, 8}, {150'000, 50'000'000'000});
  const PackGraph graph = pack_graph(torus, false);
  const double rate = best_root_rate(graph);
  // 63 of 64 parts enter a node over four links.
  CHECK(rate == Approx(4 * 50e9 / 63));
  const UnitRate unit = best_unit_rate(graph, 4, rate);
  CHECK(unit.loss(rate) < 0.02);
  require_packing(graph, unit.units,
                  pack_out_trees(graph, unit.units, std::vector<std::int64_t>(64, 4), false), 4);
}

TEST_CASE("Undirected trees fill a mesh: 2k trees on k x k, each link in k + 1") {
  for (const std::uint32_t k : {3U, 4U, 5U}) {
    const Topology mesh = make_mesh({k, k}, {150'000, 50'000'000'000});
    const PackGraph graph = pack_graph(mesh, false);
    std::vector<EdgePair> pairs;
    for (std::uint32_t a = 0; a < graph.edges.size(); ++a) {
      for (std::uint32_t b = a + 1; b < graph.edges.size(); ++b) {
        if (graph.edges[a].from == graph.edges[b].to && graph.edges[a].to == graph.edges[b].from) {
          pairs.push_back({a, b, k + 1});
        }
      }
    }
    const auto trees = pack_undirected_trees(graph, pairs, std::size_t{2} * k);
    REQUIRE(trees);
    REQUIRE(trees->size() == std::size_t{2} * k);
    std::vector<std::int64_t> load(pairs.size(), 0);
    for (const PackedTree& tree : *trees) {
      std::vector<bool> has(graph.nodes, false);
      has[tree.root] = true;
      for (const std::uint32_t e : tree.edges) {
        REQUIRE(has[graph.edges[e].from]);
        REQUIRE_FALSE(has[graph.edges[e].to]);
        has[graph.edges[e].to] = true;
        for (std::size_t p = 0; p < pairs.size(); ++p) {
          if (pairs[p].there == e || pairs[p].back == e) ++load[p];
        }
      }
      REQUIRE(tree.edges.size() + 1 == graph.nodes);
    }
    for (const std::int64_t l : load) CHECK(l <= k + 1);
    // One tree more does not fit: 2k trees use every unit of every link.
    CHECK_FALSE(pack_undirected_trees(graph, pairs, 2 * k + 1));
  }
}

TEST_CASE("The chosen undirected trees load no link of a 4 x 4 mesh above the partition bound") {
  const Topology mesh = make_mesh({4, 4}, {150'000, 50'000'000'000});
  const PackGraph graph = pack_graph(mesh, false);
  const auto choices = best_undirected_trees(mesh, graph, 0.005);
  REQUIRE_FALSE(choices.empty());
  const std::vector<PackedTree>& trees = choices.front();
  std::vector<std::size_t> load(graph.edges.size(), 0);
  for (const PackedTree& tree : trees) {
    REQUIRE(tree.edges.size() == 15);
    for (const std::uint32_t e : tree.edges) {
      ++load[e];
      ++load[link_back(mesh, LinkId(e)).index()];
    }
  }
  // 24 links carry trees of 15 links each: 8 trees, with 5 on a link.
  REQUIRE_FALSE(trees.empty());
  CHECK(*std::max_element(load.begin(), load.end()) * 8 == trees.size() * 5);
}

TEST_CASE("Low undirected trees start in the middle and reach every node by a shortest path") {
  const Topology mesh = make_mesh({5, 3}, {150'000, 50'000'000'000});
  const PackGraph graph = pack_graph(mesh, false);
  const auto trees = low_undirected_trees(mesh, graph, 1);
  REQUIRE(trees.size() == 1);
  CHECK(trees.front().root == 7);  // x 2, y 1
  std::vector<std::size_t> depth(graph.nodes, 0);
  for (const std::uint32_t e : trees.front().edges) {
    depth[graph.edges[e].to] = depth[graph.edges[e].from] + 1;
  }
  CHECK(depth == distances_from(mesh, NodeId(7)));
  CHECK(low_undirected_trees(mesh, graph, 2).empty());  // only one node is in the middle
}

TEST_CASE("Shortest low out-trees reach every node at the least latency") {
  // n0 - n1 - n2 - n3 by quick links, and a slow link n0 - n3.
  Topology topology("bypassed");
  for (std::size_t n = 0; n < 4; ++n) topology.add_node("n" + std::to_string(n));
  const auto link = [&](std::size_t a, std::size_t b, std::uint64_t latency_ps) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      topology.add_link(NodeId(from), NodeId(to), {latency_ps, 50'000'000'000},
                        "o" + std::to_string(to), "i" + std::to_string(from));
    }
  };
  link(0, 1, 100'000);
  link(1, 2, 100'000);
  link(2, 3, 100'000);
  link(0, 3, 250'000);
  const PackGraph graph = pack_graph(topology, false);
  const auto trees = low_out_trees(topology, graph, LowTrees::shortest);
  REQUIRE(trees.size() == 4);
  std::vector<std::uint64_t> latency(4, 0);
  for (const std::uint32_t e : trees[0].edges) {
    latency[graph.edges[e].to] =
        latency[graph.edges[e].from] + topology.link(graph.edges[e].path.front()).spec.latency_ps;
  }
  // Three hops to n3 take 300 ns, more than the slow link.
  CHECK(latency == std::vector<std::uint64_t>{0, 100'000, 200'000, 250'000});
}

// Two servers of 16 GPUs behind a switch each; every other GPU has a slow link to the other server
// (as two DGX2 in microsoft/TE-CCL).
Topology two_servers() {
  Topology topology("servers");
  for (std::size_t n = 0; n < 32; ++n) topology.add_node("g" + std::to_string(n));
  const NodeId switches[] = {topology.add_switch("wa"), topology.add_switch("wb")};
  for (std::size_t n = 0; n < 32; ++n) {
    const std::string name = std::to_string(n);
    topology.add_link(NodeId(n), switches[n / 16], {350'000, 125'000'000'000}, "o", "i" + name);
    topology.add_link(switches[n / 16], NodeId(n), {350'000, 125'000'000'000}, "o" + name, "i");
  }
  for (std::size_t n = 0; n < 32; n += 2) {
    const std::size_t other = (n + 16) % 32;
    topology.add_link(NodeId(n + 1), NodeId(other), {2'600'000, 12'500'000'000}, "far", "near");
  }
  return topology;
}
// To the switch, to a GPU with a slow link, over it, to the switch, to a GPU.
constexpr std::uint64_t kAcrossPs = 4 * 350'000 + 2'600'000;

TEST_CASE("An all_gather of little data crosses the slow links between servers once") {
  const Topology topology = two_servers();
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = 4096;
  const Schedule schedule = find_generator("forest")->generate(topology, request);
  std::vector<std::vector<std::uint64_t>> at(schedule.chunks.size(),
                                             std::vector<std::uint64_t>(32, 0));
  std::uint64_t last = 0;
  for (const Transfer& t : schedule.transfers) {
    std::uint64_t latency = 0;
    for (std::size_t hop = 0; hop < schedule.routes.hops(t.route); ++hop) {
      latency += topology.link(schedule.routes.link(t.route, hop)).spec.latency_ps;
    }
    auto& chunk = at[t.first_chunk.index()];
    chunk[t.to.index()] = chunk[t.from.index()] + latency;
    last = std::max(last, chunk[t.to.index()]);
  }
  CHECK(last == kAcrossPs);
}

TEST_CASE("Low out-trees of the same height leave the slow links to fewer messages") {
  const Topology topology = two_servers();
  const PackGraph graph = pack_graph(topology, false);
  LinkOrder order(topology);
  const std::vector<std::int64_t> many(graph.edges.size(), 1 << 20);
  const PackGraph direct = join_pairs(topology, graph, many, false, order).graph;
  std::size_t crossings[2] = {0, 0};
  for (const LowTrees kind : {LowTrees::shortest, LowTrees::same_height}) {
    const auto trees = low_out_trees(topology, direct, kind);
    REQUIRE(trees.size() == 32);
    for (const PackedTree& tree : trees) {
      REQUIRE(tree.edges.size() == 31);
      std::vector<std::uint64_t> at(32, 0);
      for (const std::uint32_t e : tree.edges) {
        const PackEdge& edge = direct.edges[e];
        at[edge.to] = at[edge.from];
        for (const LinkId l : edge.path) at[edge.to] += topology.link(l).spec.latency_ps;
        crossings[static_cast<std::size_t>(kind)] += edge.from / 16 != edge.to / 16 ? 1 : 0;
      }
      CHECK(*std::max_element(at.begin(), at.end()) <= kAcrossPs);
    }
  }
  CHECK(crossings[1] < crossings[0]);
}

TEST_CASE("Without a link back there are no undirected trees") {
  Topology ring("ring");
  for (std::size_t n = 0; n < 3; ++n) ring.add_node("n" + std::to_string(n));
  for (std::size_t n = 0; n < 3; ++n) {
    ring.add_link(NodeId(n), NodeId((n + 1) % 3), {150'000, 50'000'000'000}, "o", "i");
  }
  CHECK(best_undirected_trees(ring, pack_graph(ring, false), 0.005).empty());
}

TEST_CASE("Edges through switches join the links that they pass, and trees fit them") {
  for (const Topology& topology :
       {make_fat_tree(4, 4, 4, {150'000, 16'000'000'000}),
        make_switch_pair(4, {150'000, 16'000'000'000}),
        make_gpu_cluster({2, 4, 2, 2}, {150'000, 16'000'000'000}, {500'000, 4'000'000'000})}) {
    CAPTURE(topology.name());
    for (const bool reversed : {false, true}) {
      const PackGraph graph = pack_graph(topology, reversed);
      // Paths that cannot deadlock may need more units than the bound asks for, but not twice as
      // many.
      const double rate = best_unit_rate(graph, 1, best_root_rate(graph)).unit_rate / 2;
      const std::vector<std::int64_t> units = units_at(graph, rate);
      LinkOrder order(topology);
      const NodeGraph direct = remove_switches(topology, graph, units, 1, reversed,
                                               RateRule::slowest, SwitchSequence::listed, order);
      std::vector<std::int64_t> used(topology.num_links(), 0);
      for (std::size_t e = 0; e < direct.graph.edges.size(); ++e) {
        const PackEdge& edge = direct.graph.edges[e];
        REQUIRE(edge.from < topology.num_nodes());
        REQUIRE(edge.to < topology.num_nodes());
        std::uint32_t at = edge.from;
        for (const LinkId l : edge.path) {
          const TopologyLink& link = topology.link(l);
          REQUIRE((reversed ? link.to : link.from).value() == at);
          at = (reversed ? link.from : link.to).value();
          used[l.index()] += direct.units[e];
        }
        REQUIRE(at == edge.to);
      }
      for (std::size_t l = 0; l < used.size(); ++l) CHECK(used[l] <= units[l]);
      CHECK(trees_fit(direct.graph, direct.units, 1));
    }
  }
}

TEST_CASE("Paths are admitted until they would close a cycle of links") {
  // Three switches in a ring, a node at each.
  Topology ring("ring of switches");
  for (int n = 0; n < 3; ++n) ring.add_node("n" + std::to_string(n));
  std::vector<NodeId> s;
  s.reserve(3);
  for (int n = 0; n < 3; ++n) s.push_back(ring.add_switch("s" + std::to_string(n)));
  for (std::size_t n = 0; n < 3; ++n) {
    ring.add_link(NodeId(n), s[n], {1000, 1'000'000'000}, "up", "d" + std::to_string(n));
    ring.add_link(s[n], NodeId(n), {1000, 1'000'000'000}, "dn" + std::to_string(n), "down");
  }
  std::vector<LinkId> round;
  for (std::size_t n = 0; n < 3; ++n) {
    round.push_back(ring.add_link(s[n], s[(n + 1) % 3], {1000, 1'000'000'000}, "cw", "ccw"));
  }
  LinkOrder order(ring);
  int admitted = 0;
  for (std::size_t n = 0; n < 3; ++n) {
    admitted += order.admits(round[n], round[(n + 1) % 3], true) ? 1 : 0;
  }
  CHECK(admitted == 2);
  // The root decides at which switch no path goes on: the farthest one.
  for (std::size_t root = 0; root < 3; ++root) {
    LinkOrder rooted(ring, s[root]);
    for (std::size_t n = 0; n < 3; ++n) {
      CHECK(rooted.admits(round[n], round[(n + 1) % 3], false) == ((n + 1) % 3 != (root + 2) % 3));
    }
  }
}

TEST_CASE("Random networks with switches, also with dead ends, get certified trees") {
  constexpr std::uint32_t kSeed = 22;
  std::mt19937 random(kSeed);
  CAPTURE(kSeed);
  test::ShareOfCases share(61);
  for (int network = 0; network < 400; ++network) {
    const std::size_t nodes = 2 + test::pick(random, 6);
    const std::size_t switches = 1 + test::pick(random, 5);
    Topology topology("random");
    for (std::size_t n = 0; n < nodes; ++n) topology.add_node("n" + std::to_string(n));
    for (std::size_t s = 0; s < switches; ++s) topology.add_switch("s" + std::to_string(s));
    std::size_t cables = 0;
    const auto cable = [&](std::size_t a, std::size_t b) {
      const LinkSpec spec{150'000, std::uint64_t{1'000'000'000} << test::pick(random, 3)};
      const std::string name = "c" + std::to_string(++cables);
      topology.add_link(NodeId(a), NodeId(b), spec, name, name);
      topology.add_link(NodeId(b), NodeId(a), spec, name, name);
    };
    for (std::size_t v = 1; v < switches; ++v) cable(nodes + v, nodes + test::pick(random, v));
    for (std::size_t n = 0; n < nodes; ++n) cable(n, nodes + test::pick(random, switches));
    for (std::size_t more = test::pick(random, 6); more > 0; --more) {
      const std::size_t a = test::pick(random, nodes + switches);
      const std::size_t b = test::pick(random, nodes + switches);
      if (a != b) cable(a, b);
    }
    if (!share.take()) continue;
    CAPTURE(network, nodes, switches);
    CollectiveRequest request;
    request.op = test::pick(random, 2) == 0 ? CollectiveOp::all_gather : CollectiveOp::all_reduce;
    request.size = 4096 * nodes;
    request.segments = 2;
    if (network % 2 == 1) request.timing.stored_bytes = 4096;  // switches store half of the data
    const Schedule schedule = find_generator("forest")->generate(topology, request);
    const Certificate certificate = certify(topology, lower_to_tables(schedule));
    for (const Violation& violation : certificate.violations) UNSCOPED_INFO(violation.what);
    CHECK(certificate.ok());
  }
}
