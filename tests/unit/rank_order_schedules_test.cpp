// Schedules over ranks that sit anywhere: every generator keeps its contract, and follows the
// order.
#include <catch2/catch.hpp>

#include <set>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/generators/rank_shapes.h"
#include "alg/generators/rings.h"
#include "alg/rank_order/permutation.h"
#include "alg/schedule/schedule_table.h"
#include "schedule_oracle.h"
#include "table_interpreter.h"
#include "test_networks.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

CollectiveRequest request_of(const Topology& topology, CollectiveOp op, Bytes elements) {
  CollectiveRequest request;
  request.op = op;
  request.size = 4 * elements;
  request.base = smallest_bcube_base(topology.num_nodes());
  request.segments = 2;
  return request;
}

std::string certificate_text(const Certificate& certificate) {
  std::string text;
  for (const Violation& violation : certificate.violations) text += violation.what + "\n";
  return text;
}

void check_order(const Generator& generator, const Topology& topology,
                 const CollectiveRequest& request, std::uint64_t seed) {
  CAPTURE(generator.name, topology.name(), to_string(request.op), request.size, seed);
  const Schedule schedule = generator.generate(topology, request);
  test::require_well_formed(topology, schedule);
  const ScheduleTables tables = lower_to_tables(schedule);
  const Certificate certificate = certify(topology, tables);
  INFO(certificate_text(certificate));
  CHECK(certificate.ok());
  test::require_contention_as_claimed(topology, schedule, certificate.contention_free);
  CHECK(test::TableInterpreter(tables, static_cast<std::uint32_t>(seed)).run() ==
        test::RunOutcome::right);
}

// Of every rank's share of the data, in the order of the shares: at whose node it belongs.
std::vector<NodeId> owners(const Schedule& schedule) {
  std::vector<NodeId> nodes;
  for (const Chunk& chunk : schedule.chunks) nodes.push_back(chunk.owner);
  return nodes;
}

bool same_transfers(const Schedule& a, const Schedule& b) {
  if (a.transfers.size() != b.transfers.size() || owners(a) != owners(b)) return false;
  for (std::size_t t = 0; t < a.transfers.size(); ++t) {
    const Transfer& x = a.transfers[t];
    const Transfer& y = b.transfers[t];
    if (x.from != y.from || x.to != y.to || x.flow != y.flow || x.first_chunk != y.first_chunk ||
        x.num_chunks != y.num_chunks || x.step != y.step || x.kind != y.kind) {
      return false;
    }
  }
  return a.dependencies == b.dependencies;
}

}  // namespace

TEST_CASE("With random orders of the ranks every generator's schedules are certified and run") {
  std::uint64_t seed = 1;
  test::ShareOfCases share(83);
  for (const Topology& topology : test::small_networks()) {
    for (const Generator& generator : generators()) {
      if (!generator.follows_rank_order() || !generator.unsuited(topology).empty()) continue;
      for (const CollectiveOp op : generator.ops) {
        if (has_counts(op)) continue;  // needs counts
        for (const Bytes elements : {topology.num_nodes() - 1, 7 * topology.num_nodes() + 3}) {
          if (!share.take()) continue;
          CollectiveRequest request = request_of(topology, op, elements);
          request.rank_order = to_nodes(random_permutation(topology.num_nodes(), ++seed));
          check_order(generator, topology, request, seed);
        }
      }
    }
  }
}

TEST_CASE("Chunk r belongs to the node of rank r") {
  const Topology topology = make_torus({4, 4}, test::kPlainLink);
  for (const char* name : {"ring", "halving_doubling", "bcube", "direct", "multitree"}) {
    for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
      CollectiveRequest request = request_of(topology, op, 160);
      request.rank_order = to_nodes(random_permutation(16, 11));
      CAPTURE(name);
      CHECK(owners(find_generator(name)->generate(topology, request)) == request.rank_order);
    }
  }
}

TEST_CASE("A ring with an order sends from each rank's node to the next rank's") {
  const Topology topology = make_torus({4, 4}, test::kPlainLink);
  CollectiveRequest request = request_of(topology, CollectiveOp::reduce_scatter, 160);
  request.rank_order = to_nodes(random_permutation(16, 5));
  std::set<std::pair<NodeId, NodeId>> wanted;
  for (std::size_t r = 0; r < 16; ++r) {
    wanted.emplace(request.rank_order[r], request.rank_order[(r + 1) % 16]);
  }
  std::set<std::pair<NodeId, NodeId>> sent;
  const Schedule schedule = find_generator("ring")->generate(topology, request);
  for (const Transfer& t : schedule.transfers) sent.emplace(t.from, t.to);
  CHECK(sent == wanted);
}

TEST_CASE("In an all-to-all ranks exchange their shares") {
  const Topology topology = make_fully_connected(5, test::kPlainLink);
  for (const char* name : {"direct", "multitree"}) {
    CollectiveRequest request = request_of(topology, CollectiveOp::all_to_all, 13);
    request.rank_order = to_nodes(random_permutation(5, 2));
    const Schedule schedule = find_generator(name)->generate(topology, request);
    for (const Chunk& chunk : schedule.chunks) {
      const std::size_t owner = chunk.offset / request.size;
      CHECK(chunk.owner == request.rank_order[owner]);
      // 13 elements for 5 ranks: ranks 0 to 2 get one more.
      const bool larger = chunk.destination == request.rank_order[0] ||
                          chunk.destination == request.rank_order[1] ||
                          chunk.destination == request.rank_order[2];
      CHECK(chunk.size == (larger ? 12 : 8));
    }
  }
}

TEST_CASE("The identity changes nothing, except for algorithms that choose their own order") {
  const Topology topology = make_torus({4, 4}, test::kPlainLink);
  for (const Generator& generator : generators()) {
    if (!generator.follows_rank_order() || !generator.unsuited(topology).empty()) continue;
    // Without an order a ring is Hamiltonian.
    if (generator.name == "ring" || generator.name == "bidirectional_ring" ||
        generator.name == "chain") {
      continue;
    }
    for (const CollectiveOp op : generator.ops) {
      if (has_counts(op)) continue;  // needs counts
      CollectiveRequest request = request_of(topology, op, 160);
      const Schedule without = generator.generate(topology, request);
      request.rank_order = to_nodes(identity_permutation(16));
      CAPTURE(generator.name, to_string(op));
      CHECK(same_transfers(without, generator.generate(topology, request)));
    }
  }
}

TEST_CASE("A ring in the Hamiltonian order is the ring without an order") {
  const Topology topology = make_torus({4, 4}, test::kPlainLink);
  CollectiveRequest request = request_of(topology, CollectiveOp::all_reduce, 160);
  const Schedule without = find_generator("ring")->generate(topology, request);
  request.rank_order = find_node_ring(topology).nodes;
  const Schedule with = find_generator("ring")->generate(topology, request);
  CHECK(with.contention_free);
  CHECK(with.num_steps == without.num_steps);
  CHECK(with.transfers.size() == without.transfers.size());
}

TEST_CASE("MultiTree's trees take their turns in the order of the ranks") {
  const Topology topology = make_mesh({3, 3}, test::kPlainLink);
  CollectiveRequest request = request_of(topology, CollectiveOp::all_reduce, 90);
  const Schedule first = find_generator("multitree")->generate(topology, request);
  bool differs = false;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    request.rank_order = to_nodes(random_permutation(9, seed));
    const Schedule other = find_generator("multitree")->generate(topology, request);
    CHECK(other.contention_free);
    differs = differs || !same_transfers(first, other);
  }
  CHECK(differs);
}

TEST_CASE("An algorithm with one table for all nodes takes no rank order") {
  const Topology topology = make_torus({4, 4}, test::kPlainLink);
  CollectiveRequest request = request_of(topology, CollectiveOp::all_reduce, 160);
  request.rank_order = to_nodes(random_permutation(16, 5));
  CHECK_FALSE(find_generator("multitree_translated")->follows_rank_order());
  CHECK_THROWS(find_generator("multitree_translated")->generate(topology, request));
}

TEST_CASE("bcube takes log_B N rounds of B - 1 messages, and only powers of its base") {
  const Topology topology = make_single_switch(16, test::kPlainLink);
  CollectiveRequest request = request_of(topology, CollectiveOp::reduce_scatter, 160);
  request.base = 4;
  CHECK(find_generator("bcube")->generate(topology, request).transfers.size() == 16 * 2 * 3);
  CHECK(find_generator("bcube")->generate(topology, request).num_steps ==
        2 * 3);  // one link: one message at a time
  request.base = 16;
  CHECK(find_generator("bcube")->generate(topology, request).transfers.size() == 16 * 15);
  request.base = 3;
  CHECK_THROWS(find_generator("bcube")->generate(topology, request));
  CHECK(unsuited_for_bcube(16, 3) ==
        "bcube needs a number of nodes that is a power of its base; 16 nodes are not a power of 3");
  CHECK(smallest_bcube_base(81) == 3);
  CHECK(smallest_bcube_base(12) == 12);
}

TEST_CASE("bcube of base 2 is halving-doubling") {
  const Topology topology = make_single_switch(8, test::kPlainLink);
  for (const CollectiveOp op :
       {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
    CollectiveRequest request = request_of(topology, op, 80);
    request.base = 2;
    CHECK(same_transfers(find_generator("bcube")->generate(topology, request),
                         find_generator("halving_doubling")->generate(topology, request)));
  }
}
