// MULTITREE through switches, over links of unequal rates, and the all-to-all along its trees.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "alg/bounds/bounds.h"
#include "alg/generators/generator.h"
#include "alg/generators/multitree.h"
#include "alg/routes/links.h"
#include "alg/schedule/schedule_table.h"
#include "tests/support/certify_schedule.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

constexpr LinkSpec kWide{150'000, 32'000'000'000};

TreeForest forest_of(const Topology& topology) {
  return build_trees(topology, CollectiveRequest{});
}

std::size_t height(const std::vector<TreeEdge>& tree, std::size_t nodes) {
  std::vector<std::size_t> depth(nodes, 0);
  std::size_t most = 0;
  for (const TreeEdge& edge : tree) {
    depth[edge.child.index()] = depth[edge.parent.index()] + 1;
    most = std::max(most, depth[edge.child.index()]);
  }
  return most;
}

Schedule schedule_of(const Topology& topology, CollectiveOp op, Bytes size) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  return find_generator("multitree")->generate(topology, request);
}

void connect(Topology& topology, NodeId a, NodeId b, LinkSpec spec) {
  topology.add_link(a, b, spec, "to_" + topology.vertex_name(b), "from_" + topology.vertex_name(a));
  topology.add_link(b, a, spec, "to_" + topology.vertex_name(a), "from_" + topology.vertex_name(b));
}

}  // namespace

// With one link per node a step takes one chunk out and one in, so that N - 1 steps are the least.
TEST_CASE("On fat-trees and a DGX-2 the trees are stars of N-1 timesteps") {
  for (const Topology& topology :
       {make_switch_pair(8, test::kPlainLink), make_fat_tree(4, 4, 4, test::kPlainLink),
        make_fat_tree(8, 8, 8, test::kPlainLink), make_single_switch(16, test::kPlainLink)}) {
    CAPTURE(topology.name());
    const TreeForest forest = forest_of(topology);
    CHECK(forest.num_steps == topology.num_nodes() - 1);
    for (const auto& tree : forest.trees) CHECK(height(tree, topology.num_nodes()) == 1);
  }
}

TEST_CASE("On BiGraphs the trees have N-1 timesteps and height 2") {
  for (const Topology& topology :
       {make_bigraph(4, 8, test::kPlainLink), make_bigraph(4, 16, test::kPlainLink)}) {
    CAPTURE(topology.name());
    const TreeForest forest = forest_of(topology);
    CHECK(forest.num_steps == topology.num_nodes() - 1);
    for (const auto& tree : forest.trees) CHECK(height(tree, topology.num_nodes()) == 2);
  }
}

TEST_CASE("Nodes on the root's own switch come first") {
  const Topology topology = make_fat_tree(8, 8, 8, test::kPlainLink);
  const TreeForest forest = forest_of(topology);
  for (std::size_t root = 0; root < topology.num_nodes(); ++root) {
    for (std::size_t e = 0; e < 7; ++e) {
      const TreeEdge& edge = forest.trees[root][e];
      CHECK(edge.child.index() / 8 == root / 8);
      CHECK(forest.paths.hops(edge.path) == 2);
    }
  }
}

TEST_CASE("Through switches MULTITREE is free of contention and of deadlock") {
  for (const Topology& topology :
       {make_switch_pair(8, test::kPlainLink), make_fat_tree(8, 8, 8, test::kPlainLink),
        make_fat_tree(4, 6, 2, test::kPlainLink), make_bigraph(4, 8, test::kPlainLink),
        make_bigraph(4, 16, test::kPlainLink), make_bigraph(3, 4, test::kPlainLink),
        make_dragonfly(2, 4, 9, test::kPlainLink), make_fully_connected(9, test::kPlainLink)}) {
    CAPTURE(topology.name());
    const Certificate certificate = certify(
        topology, lower_to_tables(schedule_of(topology, CollectiveOp::all_reduce, 1 << 20)));
    CHECK(certificate.ok());
    CHECK(certificate.contention_free);
  }
}

// Two stars whose hubs, b and c, are joined by a cable of twice the rate: two edges of the
// multigraph. In the second timestep b has what a0 and a1 sent it in the first.
TEST_CASE("A link of twice the rate serves two trees in a timestep") {
  Topology topology("two stars");
  for (const char* name : {"a0", "a1", "b", "c", "d0", "d1"}) topology.add_node(name);
  connect(topology, NodeId(0), NodeId(2), test::kPlainLink);
  connect(topology, NodeId(1), NodeId(2), test::kPlainLink);
  connect(topology, NodeId(2), NodeId(3), kWide);
  connect(topology, NodeId(3), NodeId(4), test::kPlainLink);
  connect(topology, NodeId(3), NodeId(5), test::kPlainLink);
  const Schedule schedule = schedule_of(topology, CollectiveOp::all_gather, 4096);
  CHECK(schedule.contention_free);
  std::map<std::pair<Timestep, std::size_t>, std::size_t> uses;
  for (const Transfer& t : schedule.transfers) {
    ++uses[{t.step, schedule.routes.link(t.route, 0).index()}];
  }
  std::size_t most_wide = 0;
  for (const auto& [use, count] : uses) {
    const bool wide = topology.link(LinkId(use.second)).spec.bytes_per_second > 16'000'000'000ULL;
    CHECK(count <= (wide ? 2U : 1U));
    if (wide) most_wide = std::max(most_wide, count);
  }
  CHECK(most_wide == 2);
  const Certificate certificate = certify(topology, schedule);
  CHECK(certificate.ok());
  CHECK(certificate.contention_free);
}

TEST_CASE("Two transfers of one step on a link of single rate refute the claim of a multigraph") {
  Topology topology("line with a wide link");
  for (const char* name : {"a", "b", "c"}) topology.add_node(name);
  connect(topology, NodeId(0), NodeId(1), kWide);
  connect(topology, NodeId(1), NodeId(2), test::kPlainLink);
  Schedule schedule = schedule_of(topology, CollectiveOp::all_gather, 3072);
  REQUIRE(certify(topology, schedule).ok());
  // Everything at once that crosses the narrow link from b to c.
  for (Transfer& t : schedule.transfers) t.step = t.to == NodeId(2) ? 4 : t.step;
  schedule.num_steps = 4;
  schedule.sort_by_step();
  const auto violations = certify(topology, schedule).violations;
  CHECK(std::any_of(violations.begin(), violations.end(),
                    [](const Violation& v) { return v.kind == ViolationKind::contention; }));
}

TEST_CASE("Of links with unequal rates in the two directions the slower one counts") {
  Topology topology("lopsided");
  for (const char* name : {"a", "b", "c"}) topology.add_node(name);
  topology.add_link(NodeId(0), NodeId(1), kWide, "out", "in");
  topology.add_link(NodeId(1), NodeId(0), test::kPlainLink, "out", "in");
  connect(topology, NodeId(1), NodeId(2), test::kPlainLink);
  CHECK(find_generator("multitree")->unsuited(topology).empty());
  CHECK(link_units(topology) == std::vector<std::uint32_t>{2, 1, 1, 1});
  CHECK(two_way_link_units(topology) == std::vector<std::uint32_t>{1, 1, 1, 1});
  const Certificate certificate =
      certify(topology, lower_to_tables(schedule_of(topology, CollectiveOp::all_reduce, 4096)));
  CHECK(certificate.ok());
  CHECK(certificate.contention_free);
}

TEST_CASE("An all-to-all sends each subtree its own data and nothing else") {
  const Topology torus = make_torus({4, 4}, test::kPlainLink);
  const Schedule schedule = schedule_of(torus, CollectiveOp::all_to_all, 16 * 1024);
  CHECK(schedule.chunks.size() == 16 * 16);
  Bytes sent = 0;
  for (const Transfer& t : schedule.transfers) sent += schedule.bytes_of(t);
  // Shortest paths: 16 roots, 15 destinations, 32 links to all of them, 1 KiB each.
  CHECK(sent == Bytes{16} * 32 * 1024);
  const Certificate certificate = certify(torus, lower_to_tables(schedule));
  CHECK(certificate.ok());
  CHECK(certificate.contention_free);
}

TEST_CASE("An all-to-all whose chunk ends up elsewhere is refused") {
  const Topology mesh = make_mesh({3, 2}, test::kPlainLink);
  Schedule schedule = schedule_of(mesh, CollectiveOp::all_to_all, 6 * 64);
  REQUIRE(certify(mesh, schedule).ok());
  std::swap(schedule.chunks[1].destination, schedule.chunks[2].destination);
  const auto violations = certify(mesh, schedule).violations;
  REQUIRE_FALSE(violations.empty());
  CHECK(violations.front().kind == ViolationKind::postcondition);
}

TEST_CASE("The bound of an all-to-all counts every link that a byte must take") {
  // 8x8 torus: mean distance 4.063 over 4 links of 16 GB/s per node.
  const double torus =
      bandwidth_bound(make_torus({8, 8}, test::kPlainLink), CollectiveOp::all_to_all)
          .seconds_per_byte;
  CHECK(torus == Approx(4.0 / 64e9));
  // One link per node: all but its own share leaves by it.
  const double star =
      bandwidth_bound(make_single_switch(16, test::kPlainLink), CollectiveOp::all_to_all)
          .seconds_per_byte;
  CHECK(star == Approx(15.0 / 16 / 16e9));
  // A ring's mesh: the cut in the middle, N/2 * N/2 chunks over one link.
  const double line =
      bandwidth_bound(make_mesh({8}, test::kPlainLink), CollectiveOp::all_to_all).seconds_per_byte;
  CHECK(line == Approx(16.0 / 8 / 16e9));
}

TEST_CASE("An all-to-all that leaves a rank out is refused, whatever its chunks say") {
  const Topology torus = make_torus({2, 3}, test::kPlainLink);
  for (const char* algorithm : {"multitree", "direct"}) {
    CollectiveRequest request;
    request.op = CollectiveOp::all_to_all;
    request.size = 1200;
    const ScheduleTables good =
        lower_to_tables(find_generator(algorithm)->generate(torus, request));
    REQUIRE(certify(torus, good).ok());
    const auto postcondition = [&](const ScheduleTables& tables) {
      const auto violations = certify(torus, tables).violations;
      return std::any_of(violations.begin(), violations.end(),
                         [](const Violation& v) { return v.kind == ViolationKind::postcondition; });
    };
    // Everybody keeps everything.
    ScheduleTables selfish = good;
    for (Chunk& chunk : selfish.chunks) chunk.destination = chunk.owner;
    for (auto& table : selfish.nodes) table.clear();
    CHECK(postcondition(selfish));
    // One chunk for somebody else, or for another from every root.
    for (std::size_t c = 0; c < good.chunks.size(); ++c) {
      ScheduleTables redirected = good;
      NodeId& to = redirected.chunks[c].destination;
      to = NodeId((to.index() + 1) % 6);
      CHECK(postcondition(redirected));
    }
    ScheduleTables all_redirected = good;
    for (Chunk& chunk : all_redirected.chunks) {
      if (chunk.destination == NodeId(3)) chunk.destination = NodeId(2);
    }
    CHECK(postcondition(all_redirected));
    // Everything for rank 0: evenly cut only if all were one element.
    ScheduleTables all_for_one = good;
    for (Chunk& chunk : all_for_one.chunks) chunk.destination = NodeId(0);
    CertifierLimits limits;
    limits.element_bytes = 4;
    const auto violations = certify(torus, all_for_one, limits).violations;
    CHECK(std::any_of(violations.begin(), violations.end(), [](const Violation& v) {
      return v.what.find("rank 0 sends 0 bytes to rank 1") == 0;
    }));
  }
}

}  // namespace espalier
