// Shape of the baselines: steps, bytes, trees, rank mappings, who contends where.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/generators/rank_shapes.h"
#include "alg/generators/rings.h"
#include "alg/schedule/schedule_table.h"
#include "test_networks.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

Schedule generate(const char* algorithm, const Topology& topology,
                  CollectiveOp op = CollectiveOp::all_reduce, Bytes size = 0,
                  std::uint32_t segments = 0) {
  CollectiveRequest request;
  request.op = op;
  request.size = size != 0 ? size : topology.num_nodes() * 1024;
  request.segments = segments;
  request.base = smallest_bcube_base(topology.num_nodes());
  const Generator& generator = *find_generator(algorithm);
  REQUIRE(generator.unsuited(topology) == "");
  return generator.generate(topology, request);
}

std::vector<Bytes> bytes_sent(const Schedule& schedule) {
  std::vector<Bytes> bytes(schedule.num_nodes, 0);
  for (const Transfer& t : schedule.transfers) bytes[t.from.index()] += schedule.bytes_of(t);
  return bytes;
}

// The proof of the certifier, not the generator's word.
bool certified_contention_free(const Topology& topology, const Schedule& schedule) {
  const Certificate certificate = certify(topology, lower_to_tables(schedule));
  CHECK(certificate.ok());
  return certificate.contention_free;
}

bool contention_free(const char* algorithm, const Topology& topology) {
  return certified_contention_free(topology, generate(algorithm, topology));
}

std::vector<std::size_t> leaves_of(const Topology& topology, const NodeRing& ring) {
  std::vector<std::size_t> leaves;
  for (const NodeId node : ring.nodes) {
    const std::size_t leaf = switch_of(topology, node);
    if (leaves.empty() || leaves.back() != leaf) leaves.push_back(leaf);
  }
  return leaves;
}

}  // namespace

// --------------------------------------------------------------------------------------- rings

TEST_CASE("On a fat-tree the ring visits leaf after leaf, each once") {
  for (const std::uint32_t k : {2U, 4U, 8U}) {
    const Topology topology = make_fat_tree(k, k, k, kPlainLink);
    const auto leaves = leaves_of(topology, find_node_ring(topology));
    CHECK(leaves.size() == k);
    CHECK(std::set<std::size_t>(leaves.begin(), leaves.end()).size() == k);
  }
}

TEST_CASE("On a BiGraph the ring goes from side to side with every switch") {
  for (const std::uint32_t switches : {2U, 4U, 8U, 16U}) {
    const Topology topology = make_bigraph(4, switches, kPlainLink);
    const auto leaves = leaves_of(topology, find_node_ring(topology));
    REQUIRE(leaves.size() == switches);
    for (std::size_t i = 1; i < leaves.size(); ++i) {
      CHECK((leaves[i] < switches / 2) != (leaves[i - 1] < switches / 2));
    }
  }
}

TEST_CASE("On a fully connected network the ring visits the nodes by number over single links") {
  const Topology topology = make_fully_connected(9, kPlainLink);
  const NodeRing ring = find_node_ring(topology);
  CHECK(ring.hamiltonian);
  for (std::size_t n = 0; n < 9; ++n) CHECK(ring.nodes[n] == NodeId(n));
}

TEST_CASE("With one link per node a ring uses one NI port, also where it goes both ways") {
  const Topology fat_tree = make_fat_tree(4, 4, 4, kPlainLink);
  CHECK(generate("ring", fat_tree).ni_ports == 1);
  CHECK(generate("bidirectional_ring", fat_tree).ni_ports == 1);
  CHECK(generate("bidirectional_ring", make_fully_connected(4, kPlainLink)).ni_ports == 2);
}

// -------------------------------------------------------------------------------------- direct

TEST_CASE("Direct takes one step per phase where every node is linked to every other") {
  const Topology topology = make_fully_connected(8, kPlainLink);
  const Schedule all = generate("direct", topology);
  CHECK(all.num_steps == 2);
  CHECK(all.ni_ports == 7);
  CHECK(certified_contention_free(topology, all));
  CHECK(generate("direct", topology, CollectiveOp::reduce_scatter).num_steps == 1);
}

TEST_CASE("Direct takes N-1 steps per phase with one link per node, and moves no byte twice") {
  const Topology topology = make_single_switch(9, kPlainLink);
  const Schedule schedule = generate("direct", topology);
  CHECK(schedule.num_steps == 16);
  CHECK(schedule.ni_ports == 1);
  for (const Bytes bytes : bytes_sent(schedule)) CHECK(bytes == 2 * 8 * 1024);
  for (const Transfer& t : schedule.transfers) {
    const std::size_t shift = (t.to.index() + 9 - t.from.index()) % 9;
    CHECK(shift == (t.step - 1) % 8 + 1);
  }
}

TEST_CASE("Direct refuses networks for which it would keep too many waits") {
  const Topology topology = make_single_switch(257, kPlainLink);
  const Generator& direct = *find_generator("direct");
  CHECK(direct.too_large(topology, CollectiveOp::all_gather) ==
        "A direct exchange has too many messages on 257 nodes; it runs on at most 256");
  CHECK(direct.too_large(topology, CollectiveOp::all_to_all) == "");
  CHECK(direct.too_large(make_single_switch(1025, kPlainLink), CollectiveOp::all_to_all) != "");
}

// --------------------------------------------------------------------------- halving-doubling

TEST_CASE("Halving-doubling takes log2 N steps per phase and halves the message in each") {
  for (const std::uint32_t nodes : {2U, 4U, 8U, 32U}) {
    const Topology topology = make_single_switch(nodes, kPlainLink);
    std::size_t log2 = 0;
    while (nodes >> (log2 + 1) != 0) ++log2;
    const Schedule schedule = generate("halving_doubling", topology);
    CHECK(schedule.num_steps == 2 * log2);
    for (const Bytes bytes : bytes_sent(schedule)) CHECK(bytes == 2 * (nodes - 1) * 1024);
    for (const Transfer& t : schedule.transfers) {
      const std::size_t halvings = t.step <= log2 ? t.step : 2 * log2 + 1 - t.step;
      CHECK(schedule.bytes_of(t) == (nodes * 1024) >> halvings);
    }
    for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
      CHECK(generate("halving_doubling", topology, op).num_steps == log2);
    }
  }
}

TEST_CASE("Halving-doubling folds the ranks beyond a power of two, one step before and after") {
  for (const std::uint32_t nodes : {3U, 5U, 6U, 7U, 12U}) {
    const Topology topology = make_single_switch(nodes, kPlainLink);
    std::size_t log2 = 0;
    while (nodes >> (log2 + 1) != 0) ++log2;
    const std::size_t folded = nodes - (std::size_t{1} << log2);
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
      const Schedule schedule = generate("halving_doubling", topology, op);
      CAPTURE(nodes, to_string(op));
      CHECK(schedule.num_steps == (op == CollectiveOp::all_reduce ? 2 : 1) * log2 + 2);
      std::map<Timestep, std::size_t> per_step;
      for (const Transfer& t : schedule.transfers) ++per_step[t.step];
      CHECK(per_step[1] == folded);
      CHECK(per_step[schedule.num_steps] == folded);
      // Even ranks below twice the number of folded ones only hand over and get back.
      for (const Transfer& t : schedule.transfers) {
        if (t.from.index() < 2 * folded && t.from.index() % 2 == 0) CHECK(t.step == 1);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------- HDRM

TEST_CASE("HDRM puts every rank on a node of its own and partners on opposite sides") {
  for (const std::uint32_t nodes_per_switch : {1U, 2U, 4U, 8U}) {
    for (const std::uint32_t switches : {2U, 4U, 8U, 16U}) {
      const Topology topology = make_bigraph(nodes_per_switch, switches, kPlainLink);
      CAPTURE(topology.name());
      const auto is_upper = [&](NodeId node) { return switch_of(topology, node) < switches / 2; };
      const std::vector<NodeId> ranks = hdrm_ranks(topology);
      CHECK(std::set<NodeId>(ranks.begin(), ranks.end()).size() == topology.num_nodes());
      CHECK(ranks.size() == topology.num_nodes());
      for (std::size_t distance = 1; distance < ranks.size(); distance *= 2) {
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
          CHECK(is_upper(ranks[rank]) != is_upper(ranks[rank ^ distance]));
        }
      }
      // Where a switch has no more nodes than links to the other side, each takes a link of its
      // own.
      if (nodes_per_switch <= switches / 2) CHECK(contention_free("hdrm", topology));
    }
  }
}

TEST_CASE("HDRM is halving-doubling: as many steps, as many bytes") {
  const Topology topology = make_bigraph(4, 8, kPlainLink);
  const Schedule schedule = generate("hdrm", topology);
  CHECK(schedule.num_steps == 10);
  CHECK(schedule.ni_ports == 1);
  for (const Bytes bytes : bytes_sent(schedule)) CHECK(bytes == 2 * 31 * 1024);
}

TEST_CASE("HDRM refuses networks other than BiGraphs of powers of two") {
  const auto unsuited = find_generator("hdrm")->unsuited;
  for (const Topology& topology :
       {make_torus({4, 4}, kPlainLink), make_fat_tree(4, 4, 4, kPlainLink)}) {
    CHECK(unsuited(topology) ==
          "HDRM maps ranks onto the two sides of a BiGraph; this network is not a BiGraph");
  }
  CHECK(unsuited(make_bigraph(3, 8, kPlainLink)) ==
        "HDRM needs a BiGraph whose numbers of switches and of nodes per switch are powers of two; "
        "this BiGraph has 8 switches with 3 nodes each");
  CHECK(unsuited(make_bigraph(4, 6, kPlainLink)) ==
        "HDRM needs a BiGraph whose numbers of switches and of nodes per switch are powers of two; "
        "this BiGraph has 6 switches with 4 nodes each");
}

// -------------------------------------------------------------------------------------- DBTREE

TEST_CASE("The double tree spans all ranks twice, with no rank inside both trees") {
  for (std::size_t ranks = 2; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    std::size_t log2 = 0;
    while (ranks >> (log2 + 1) != 0) ++log2;
    std::vector<std::size_t> inside(ranks, 0);
    for (const RankTree& tree : make_double_tree(ranks)) {
      std::vector<std::size_t> children(ranks, 0);
      REQUIRE(tree.size() == ranks);
      CHECK(tree.parent[tree.root] == tree.root);
      for (std::size_t r = 0; r < ranks; ++r) {
        if (r == tree.root) continue;
        CHECK(tree.depth[r] == tree.depth[tree.parent[r]] + 1);
        CHECK(tree.depth[r] <= log2 + 1);
        ++children[tree.parent[r]];
      }
      CHECK(children[tree.root] == 1);
      for (std::size_t r = 0; r < ranks; ++r) {
        CHECK(children[r] <= 2);
        if (children[r] != 0) ++inside[r];
      }
    }
    // With an odd number of ranks more than half of them are inside a tree: rank 0 is in both.
    for (std::size_t r = 0; r < ranks; ++r) {
      if (ranks % 2 == 0 || r != 0) CHECK(inside[r] <= 1);
    }
  }
}

// NCCL's own drawing of the tree over 14 ranks.
TEST_CASE("The first tree over 14 ranks is the one that NCCL draws") {
  const RankTree tree = make_binary_tree(14);
  CHECK(tree.parent == std::vector<std::size_t>{0, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12});
  const RankTree second = make_double_tree(14)[1];
  CHECK(second.root == 13);
  CHECK(second.parent[13 - 8] == 13);
  CHECK(second.parent[13 - 1] == 13 - 2);
}

TEST_CASE("A node of DBTREE sends and receives once a step, for one tree in odd steps only") {
  for (const std::uint32_t nodes : {2U, 3U, 8U, 13U}) {
    const Topology topology = make_single_switch(nodes, kPlainLink);
    const Schedule schedule =
        generate("dbtree", topology, CollectiveOp::all_reduce, Bytes{nodes} * 4096, 5);
    CHECK(schedule.ni_ports == 1);
    CHECK(schedule.chunks.size() == 10);
    CHECK(schedule.transfers.size() == 2 * 5 * 2 * (nodes - 1));
    std::set<std::pair<Timestep, NodeId>> sends;
    std::set<std::pair<Timestep, NodeId>> receives;
    for (const Transfer& t : schedule.transfers) {
      CHECK(sends.emplace(t.step, t.from).second);
      CHECK(receives.emplace(t.step, t.to).second);
      const bool first_tree = t.flow.index() < 5;
      CHECK((t.step % 2 == 1) == first_tree);
    }
    CHECK(certified_contention_free(topology, schedule));
  }
}

TEST_CASE(
    "DBTREE pipelines: a segment more costs three steps of either tree, whatever the height") {
  for (const std::uint32_t nodes : {3U, 5U, 8U, 64U, 100U}) {
    CAPTURE(nodes);
    const Topology topology = make_single_switch(nodes, kPlainLink);
    const auto steps = [&](std::uint32_t segments) {
      return generate("dbtree", topology, CollectiveOp::all_reduce, 1 << 20, segments).num_steps;
    };
    for (const std::uint32_t segments : {1U, 2U, 20U}) {
      CHECK(steps(segments + 1) - steps(segments) == 6);
    }
    // At most four tree steps per level, up and down, and two more at the top.
    std::size_t log2 = 0;
    while (nodes >> (log2 + 1) != 0) ++log2;
    CHECK(steps(1) <= 2 * (4 * log2 + 4));
    CHECK(steps(1) >= 2 * 2 * log2);
  }
}

TEST_CASE("DBTREE cuts each half into pieces of about 8 KiB, at most 64") {
  const Topology topology = make_single_switch(4, kPlainLink);
  const auto chunks = [&](Bytes size) {
    return generate("dbtree", topology, CollectiveOp::all_reduce, size).chunks.size();
  };
  CHECK(chunks(4) == 2);
  CHECK(chunks(16 * 1024) == 2);
  CHECK(chunks(16 * 1024 + 4) == 4);
  CHECK(chunks(1 << 20) == 2 * 64);
  CHECK(chunks(64 << 20) == 2 * 64);
}

// -------------------------------------------------------------------------- contention claims

struct Claims {
  Topology topology;
  std::vector<std::string> refuted;  // all others that run there are proven
};

// The table of alg/generators/README.md. bcube has base 2 on all of them.
TEST_CASE("The certifier proves or refutes that an algorithm is free of contention") {
  const std::vector<Claims> table{
      {make_torus({4, 4}, kPlainLink), {"direct", "halving_doubling", "bcube", "dbtree"}},
      {make_torus({8, 8}, kPlainLink), {"direct", "halving_doubling", "bcube", "dbtree"}},
      {make_mesh({4, 4}, kPlainLink), {"direct", "halving_doubling", "bcube"}},
      {make_mesh({8, 8}, kPlainLink), {"direct", "halving_doubling", "bcube", "dbtree"}},
      {make_fully_connected(16, kPlainLink), {}},
      {make_single_switch(16, kPlainLink), {"bidirectional_ring"}},
      {make_switch_pair(8, kPlainLink), {"bidirectional_ring"}},
      {make_fat_tree(4, 4, 4, kPlainLink), {"bidirectional_ring", "dbtree"}},
      {make_fat_tree(8, 8, 8, kPlainLink), {"bidirectional_ring", "dbtree"}},
      {make_bigraph(4, 8, kPlainLink),
       {"bidirectional_ring", "direct", "halving_doubling", "bcube", "dbtree"}},
      {make_bigraph(4, 16, kPlainLink),
       {"bidirectional_ring", "direct", "halving_doubling", "bcube", "dbtree"}},
      {make_dragonfly(2, 4, 4, kPlainLink),
       {"bidirectional_ring", "direct", "halving_doubling", "bcube", "dbtree"}},
  };
  test::ShareOfCases share(3);
  for (const Claims& claims : table) {
    if (!share.take()) continue;
    std::vector<std::string> refuted;
    for (const Generator& generator : generators()) {
      if (!generator.unsuited(claims.topology).empty()) continue;
      if (generator.plans_times) continue;  // its messages have no steps
      if (!generator.computes(CollectiveOp::all_reduce)) continue;
      // Large enough for segments of the double tree to follow each other.
      const Schedule schedule =
          generate(generator.name.c_str(), claims.topology, CollectiveOp::all_reduce, 1 << 20);
      const bool proven = certified_contention_free(claims.topology, schedule);
      CHECK(schedule.contention_free == proven);
      if (!proven) refuted.push_back(generator.name);
    }
    CAPTURE(claims.topology.name());
    CHECK(refuted == claims.refuted);
  }
}

TEST_CASE(
    "DBTREE's contention on a torus is a pair of messages on a link, named by the certifier") {
  const Topology torus = make_torus({8, 8}, kPlainLink);
  ScheduleTables tables =
      lower_to_tables(generate("dbtree", torus, CollectiveOp::all_reduce, 1 << 20));
  CHECK_FALSE(tables.contention_free);
  tables.contention_free = true;
  const Certificate certificate = certify(torus, tables);
  REQUIRE_FALSE(certificate.ok());
  for (const Violation& violation : certificate.violations) {
    CHECK(violation.kind == ViolationKind::contention);
  }
  CHECK_THAT(certificate.violations.front().what, Catch::Matchers::Contains(" carries both the "));
}
