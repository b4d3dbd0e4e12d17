// The baselines simulated: on direct networks and through switches, both fidelities alike.
#include <catch2/catch.hpp>

#include <vector>

#include "model_test_support.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;
using test::run_tables;

void check_fidelities(const char* algorithm, const Topology& topology, Bytes size) {
  const Generator& generator = *find_generator(algorithm);
  REQUIRE(generator.unsuited(topology) == "");
  test::ShareOfCases share(5);
  for (const CollectiveOp op : generator.ops) {
    if (has_counts(op)) continue;  // needs counts
    const ScheduleTables tables = test::tables_for(algorithm, topology, size, op);
    for (const FlowControlMode mode : test::kFlowControlModes) {
      for (const LockstepMode lockstep : {LockstepMode::off, LockstepMode::estimate}) {
        if (!share.take()) continue;
        CAPTURE(algorithm, topology.name(), to_string(op), size, static_cast<int>(mode),
                static_cast<int>(lockstep));
        SystemConfig config = in_mode(mode);
        config.ni.lockstep = lockstep;
        SimulationConfig simulation;
        simulation.fidelity = Fidelity::cycle;
        simulation.monitors = true;
        const auto cycle = run_tables(topology, tables, config, simulation);
        CHECK(cycle.failure == "");
        CHECK(cycle.verified);
        simulation.fidelity = Fidelity::train;
        simulation.monitors = false;
        const auto train = run_tables(topology, tables, config, simulation);
        CHECK(test::reproducible(train) == test::reproducible(cycle));
      }
    }
  }
}

void check_stalled(const char* algorithm, const Topology& topology, Bytes size) {
  const Generator& generator = *find_generator(algorithm);
  test::ShareOfCases share(5);
  for (const CollectiveOp op : generator.ops) {
    if (has_counts(op)) continue;  // needs counts
    const ScheduleTables tables = test::tables_for(algorithm, topology, size, op);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      if (!share.take()) continue;
      SystemConfig config = in_mode(test::kFlowControlModes[seed % 2]);
      config.ni.lockstep = LockstepMode::off;
      config.ni.reduction.mode =
          seed % 3 == 0 ? ReductionMode::after_message : ReductionMode::streaming;
      SimulationConfig simulation;
      simulation.fidelity = Fidelity::cycle;
      simulation.monitors = true;
      simulation.stall_probability = 0.3;
      simulation.seed = seed;
      CAPTURE(algorithm, topology.name(), to_string(op), seed);
      const auto outcome = run_tables(topology, tables, config, simulation);
      CHECK(outcome.failure == "");
      CHECK(outcome.verified);
    }
  }
}

const char* const kAnywhere[] = {"ring", "bidirectional_ring", "direct", "halving_doubling",
                                 "dbtree"};

constexpr Bytes kDataSize = test::kSanitized ? 2 * 1024 : 16 * 1024;

TEST_CASE("The baselines take the same cycles in both fidelities on a 4x4 torus") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  for (const char* algorithm : kAnywhere) check_fidelities(algorithm, torus, kDataSize);
}

TEST_CASE("The baselines take the same cycles in both fidelities on a fat-tree") {
  const Topology fat_tree = make_fat_tree(4, 4, 4, link_of(20));
  for (const char* algorithm : kAnywhere) check_fidelities(algorithm, fat_tree, kDataSize);
}

TEST_CASE("The baselines take the same cycles in both fidelities on a BiGraph") {
  const Topology bigraph = make_bigraph(2, 8, link_of(20));
  for (const char* algorithm : kAnywhere) check_fidelities(algorithm, bigraph, kDataSize);
  check_fidelities("hdrm", bigraph, kDataSize);
}

TEST_CASE("The baselines take the same cycles in both fidelities where nothing divides evenly") {
  const Topology fat_tree = make_fat_tree(3, 3, 2, link_of(15));
  for (const char* algorithm : kAnywhere) check_fidelities(algorithm, fat_tree, 4 * 1213);
  for (const char* algorithm : kAnywhere) {
    check_fidelities(algorithm, make_dragonfly(1, 2, 3, link_of(15)), 4 * 1213);
    check_fidelities(algorithm, make_fully_connected(5, link_of(15)), 4 * 3);
  }
}

TEST_CASE("Random stalls never change the baselines' data") {
  for (const char* algorithm : kAnywhere) {
    check_stalled(algorithm, make_fat_tree(3, 2, 2, link_of(10)), 6 * 260);
    check_stalled(algorithm, make_mesh({3, 2}, link_of(10)), 6 * 260);
  }
  check_stalled("hdrm", make_bigraph(2, 4, link_of(10)), 8 * 260);
}

TEST_CASE("Segments make DBTREE faster where its trees are deep and the data large") {
  const Topology topology = make_single_switch(16, test::kDefaultLink);
  const SystemConfig config = in_mode(FlowControlMode::message);
  std::vector<Cycle> cycles;
  for (const std::uint32_t segments : {1U, 4U, 16U}) {
    CollectiveRequest request;
    request.size = 1 << 20;
    request.segments = segments;
    const ScheduleTables tables =
        lower_to_tables(find_generator("dbtree")->generate(topology, request));
    const auto outcome = run_tables(topology, tables, config, {});
    CHECK(outcome.verified);
    cycles.push_back(outcome.cycles);
  }
  CHECK(cycles[1] < cycles[0]);
  CHECK(cycles[2] < cycles[1]);
}

}  // namespace
}  // namespace espalier
