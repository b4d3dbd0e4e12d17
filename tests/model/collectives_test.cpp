// All algorithms with every monitor on, under tight buffers and random stalls: stalls change
// cycles, never data.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;
using test::run_collective;

const char* const kAlgorithms[] = {"ring", "bidirectional_ring", "2d_ring", "multitree"};

SimulationConfig monitored(double stall_probability = 0, std::uint64_t seed = 1) {
  SimulationConfig simulation;
  simulation.monitors = true;
  simulation.stall_probability = stall_probability;
  simulation.seed = seed;
  return simulation;
}

void check_all(const Topology& topology, Bytes size) {
  test::ShareOfCases share(5);
  for (const char* algorithm : kAlgorithms) {
    if (!find_generator(algorithm)->unsuited(topology).empty()) continue;
    for (const FlowControlMode mode : test::kFlowControlModes) {
      for (const CollectiveOp op :
           {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
        if (!share.take()) continue;
        CAPTURE(algorithm, static_cast<int>(mode), to_string(op), size);
        const auto outcome =
            run_collective(algorithm, topology, size, in_mode(mode), monitored(), op);
        CHECK(outcome.failure == "");
        CHECK(outcome.verified);
      }
    }
  }
}

TEST_CASE("Every algorithm and operation ends with the right data on a 2x2 torus") {
  check_all(make_torus({2, 2}, link_of(20)), 3000);
}

TEST_CASE("Every algorithm and operation ends with the right data on a 3x2 mesh") {
  check_all(make_mesh({3, 2}, link_of(20)), 1204);
}

TEST_CASE("Every algorithm and operation ends with the right data on a 4x4 torus") {
  check_all(make_torus({4, 4}, link_of(20)), 8192);
}

TEST_CASE("Every algorithm and operation ends with the right data on a 3x3 mesh") {
  check_all(make_mesh({3, 3}, link_of(20)), 9 * 260);
}

TEST_CASE("Every algorithm and operation ends with the right data on a 2x2x2 torus") {
  check_all(make_torus({2, 2, 2}, link_of(20)), 4096);
}

TEST_CASE("Fewer elements than nodes are reduced right") {
  check_all(make_torus({3, 3}, link_of(20)), 20);
}

TEST_CASE("Every hardware variant with tight buffers and random stalls keeps the data right") {
  const Topology torus = make_torus({3, 3}, link_of(12));
  const Topology mesh = make_mesh({2, 3}, link_of(12));
  std::uint64_t variant = 0;
  for (const SwitchHold hold : {SwitchHold::packet, SwitchHold::flit}) {
    for (const CrossbarInputs inputs : {CrossbarInputs::port, CrossbarInputs::vc}) {
      for (const Switching switching : {Switching::vct, Switching::wormhole}) {
        for (const double stalls : {0.0, 0.05, 0.3}) {
          for (const char* algorithm : kAlgorithms) {
            // The other parameters take turns.
            ++variant;
            SystemConfig config = in_mode(test::kFlowControlModes[variant % 2]);
            config.router.hold = hold;
            config.router.crossbar_inputs = inputs;
            config.router.switching = switching;
            config.router.vc_depth_flits = 17 + static_cast<std::uint32_t>(variant * 7 % 24);
            config.router.pipeline_cycles = variant % 4;
            config.router.vcs = 1 + static_cast<std::uint32_t>(variant % 3);
            config.ni.lockstep = static_cast<LockstepMode>(variant / 2 % 4);
            const Topology& topology = variant / 3 % 2 == 0 ? torus : mesh;
            CAPTURE(algorithm, static_cast<int>(hold), static_cast<int>(inputs),
                    static_cast<int>(switching), stalls, variant, topology.name());
            const auto outcome =
                run_collective(algorithm, topology, 6 * 9 * 52, config, monitored(stalls, variant));
            CHECK(outcome.failure == "");
            CHECK(outcome.verified);
          }
        }
      }
    }
  }
}

TEST_CASE("Random stalls change cycles and never flits or data") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  test::ShareOfCases share(3);
  for (const char* algorithm : kAlgorithms) {
    for (const FlowControlMode mode : test::kFlowControlModes) {
      if (!share.take()) continue;
      const SystemConfig config = in_mode(mode);
      const Bytes size = test::kSanitized ? 4096 : 16384;
      const auto calm = run_collective(algorithm, torus, size, config, monitored());
      std::vector<Cycle> cycles;
      for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const auto stalled = run_collective(algorithm, torus, size, config, monitored(0.3, seed));
        CAPTURE(algorithm, static_cast<int>(mode), seed);
        CHECK(stalled.failure == "");
        CHECK(stalled.verified);
        CHECK(stalled.cycles > calm.cycles);
        CHECK(stalled.flit_hops == calm.flit_hops);
        CHECK(stalled.flits_injected == calm.flits_injected);
        CHECK(stalled.head_flits == calm.head_flits);
        cycles.push_back(stalled.cycles);
      }
      CHECK((cycles[0] != cycles[1] || cycles[1] != cycles[2]));
    }
  }
}

TEST_CASE("The same seed stalls the same way twice") {
  const Topology torus = make_torus({3, 3}, link_of(20));
  const auto once = run_collective("multitree", torus, 9000, SystemConfig{}, monitored(0.1, 7));
  const auto again = run_collective("multitree", torus, 9000, SystemConfig{}, monitored(0.1, 7));
  CHECK(test::reproducible(once) == test::reproducible(again));
}

TEST_CASE("Held Reduces of 2D-RING keep the data right whoever runs ahead") {
  test::ShareOfCases share(5);
  for (const std::vector<std::uint32_t>& dims :
       {std::vector<std::uint32_t>{3, 3}, {4, 4}, {4, 2}}) {
    const Topology torus = make_torus(dims, link_of(10));
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      if (!share.take()) continue;
      SystemConfig config = in_mode(test::kFlowControlModes[seed % 2]);
      config.ni.lockstep = LockstepMode::off;
      config.ni.reduction.mode =
          seed % 3 == 0 ? ReductionMode::after_message : ReductionMode::streaming;
      config.ni.reduction.bytes_per_cycle = seed % 3 == 0 ? 64 : 0;
      CAPTURE(torus.name(), seed);
      const auto outcome =
          run_collective("2d_ring", torus, torus.num_nodes() * 256, config, monitored(0.4, seed));
      CHECK(outcome.failure == "");
      CHECK(outcome.verified);
    }
  }
}

// The torus with the links inside row or column `slow` of dimension `dim` slowed down.
Topology with_slow_line(const std::vector<std::uint32_t>& dims, std::size_t dim,
                        std::uint32_t slow) {
  const Topology even = make_torus(dims, link_of(2));
  Topology uneven("uneven");
  for (std::size_t n = 0; n < even.num_nodes(); ++n) uneven.add_node(even.vertex_name(NodeId(n)));
  for (const TopologyLink& link : even.links()) {
    const auto from = even.grid()->coordinates(link.from);
    const auto to = even.grid()->coordinates(link.to);
    const bool inside = from[1 - dim] == slow && to[1 - dim] == slow;
    uneven.add_link(link.from, link.to, link_of(inside ? 700 : 2), link.out_name, link.in_name);
  }
  uneven.set_shape(even.shape());
  return uneven;
}

void check_slow_lines(std::size_t dim, CollectiveOp op) {
  for (std::uint32_t slow = 0; slow < 4; ++slow) {
    const Topology torus = with_slow_line({4, 4}, dim, slow);
    SystemConfig config = in_mode(test::kFlowControlModes[slow % 2]);
    config.ni.lockstep = LockstepMode::off;
    CAPTURE(dim, slow, to_string(op));
    const auto outcome = run_collective("2d_ring", torus, 16 * 256, config, monitored(), op);
    CHECK(outcome.failure == "");
    CHECK(outcome.verified);
  }
}

// A node's Reduce and its Gather of one flow go to the same neighbour. The first one to leave must
// not pass for both.
TEST_CASE("A row that lags behind holds the Reduces of the others beside memory") {
  check_slow_lines(0, CollectiveOp::all_reduce);
}

TEST_CASE("A column that lags behind holds the Reduces of the others beside memory") {
  check_slow_lines(1, CollectiveOp::all_reduce);
}

// Here a flow is complete at its root with a reduction, which in the same cycle lets held Reduces
// into the reduction unit.
TEST_CASE("A reduce_scatter lets held Reduces in when a reduction completes their flows") {
  for (const std::size_t dim : {0U, 1U}) check_slow_lines(dim, CollectiveOp::reduce_scatter);
}

TEST_CASE("An all_gather whose rows or columns lag behind gathers the right data") {
  for (const std::size_t dim : {0U, 1U}) check_slow_lines(dim, CollectiveOp::all_gather);
}

TEST_CASE("Rational link rates and mixed latencies keep the data right") {
  Topology ring("ring");
  for (const char* name : {"a", "b", "c", "d"}) ring.add_node(name);
  const std::uint64_t rates[] = {16'000'000'000, 12'000'000'000, 10'000'000'000, 3'000'000'000};
  for (std::size_t n = 0; n < 4; ++n) {
    const NodeId here(n);
    const NodeId next((n + 1) % 4);
    ring.add_link(here, next, link_of(1 + 13 * n, rates[n]), "e", "w");
    ring.add_link(next, here, link_of(40 - 13 * n, rates[3 - n]), "w", "e");
  }
  for (const char* algorithm : {"ring", "bidirectional_ring", "multitree"}) {
    for (const FlowControlMode mode : test::kFlowControlModes) {
      for (const std::uint32_t depth : {17U, 100U}) {
        SystemConfig config = in_mode(mode);
        config.router.vc_depth_flits = depth;
        CAPTURE(algorithm, static_cast<int>(mode), depth);
        const auto outcome =
            run_collective(algorithm, ring, 10'000, config, monitored(0.05, depth));
        CHECK(outcome.failure == "");
        CHECK(outcome.verified);
      }
    }
  }
}

TEST_CASE("True lockstep takes one hop per step and nothing else") {
  // Contention-free trees: with unlimited reduction throughput no step waits for anything.
  const Topology torus = make_torus({4, 4}, test::kDefaultLink);
  SystemConfig config = in_mode(FlowControlMode::message);
  config.ni.lockstep = LockstepMode::full;
  config.ni.reduction = {ReductionMode::after_message, 1, 0, 1};  // A = 0
  const auto tables = test::tables_for("multitree", torus, 16 * 4096);
  const auto outcome = test::run_tables(torus, tables, config, monitored());
  const Cycle phase = tables.num_steps / 2;
  const Cycle flits = 257;
  CHECK(outcome.verified);
  // Reduce steps of F + 161 + 1 + 1, gather steps of F + 161 + 1, a turnaround of 2; the last step
  // ends with its visibility.
  CHECK(outcome.cycles == phase * (2 * (flits + 162) + 1) + 2 - 1);
}

}  // namespace
}  // namespace espalier
