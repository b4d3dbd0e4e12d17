// Collectives whose ranks sit anywhere, simulated with real data.
#include <catch2/catch.hpp>

#include "alg/generators/rank_shapes.h"
#include "alg/rank_order/permutation.h"
#include "model_test_support.h"
#include "tests/support/networks.h"

using namespace espalier;
using namespace espalier::test;

namespace {

void check_simulated(const Topology& topology, const std::string& algorithm, CollectiveOp op,
                     std::uint64_t seed) {
  CAPTURE(topology.name(), algorithm, to_string(op), seed);
  CollectiveRequest request;
  request.op = op;
  request.size = 4 * (9 * topology.num_nodes() + 5);
  request.base = smallest_bcube_base(topology.num_nodes());
  request.rank_order = to_nodes(random_permutation(topology.num_nodes(), seed));
  const ScheduleTables tables =
      lower_to_tables(find_generator(algorithm)->generate(topology, request));
  const SimulationOutcome outcome = run_tables(topology, tables, in_mode(FlowControlMode::packet));
  INFO(outcome.failure);
  CHECK(outcome.verified);
}

}  // namespace

TEST_CASE("On a torus every algorithm computes the right result in random orders") {
  const Topology torus = make_torus({4, 4}, {20'000, 16'000'000'000});
  std::uint64_t seed = 1;
  for (const Generator& generator : generators()) {
    if (!generator.follows_rank_order() || !generator.unsuited(torus).empty()) continue;
    for (const CollectiveOp op : generator.ops) {
      if (has_counts(op)) continue;  // needs counts
      check_simulated(torus, generator.name, op, ++seed);
    }
  }
}

TEST_CASE("Across switches and folded ranks random orders compute the right result") {
  const Topology tree = make_fat_tree(3, 2, 2, {20'000, 16'000'000'000});
  std::uint64_t seed = 100;
  for (const char* algorithm : {"ring", "halving_doubling", "bcube", "dbtree", "multitree"}) {
    check_simulated(tree, algorithm, CollectiveOp::all_reduce, ++seed);
  }
  const Topology bigraph = make_bigraph(2, 4, {20'000, 16'000'000'000});
  check_simulated(bigraph, "hdrm", CollectiveOp::reduce_scatter, 7);
  check_simulated(bigraph, "hdrm", CollectiveOp::all_gather, 8);
}
