// Contention as it is measured: packets that find the link they need taken.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::kDefaultLink;
using test::post_messages;

std::uint64_t conflicts(const std::vector<test::Post>& posts, Fidelity fidelity) {
  SimulationConfig simulation;
  simulation.fidelity = fidelity;
  const Topology line = make_mesh({3}, kDefaultLink);
  const SystemConfig config = in_mode(FlowControlMode::packet);
  return test::link_conflicts(post_messages(line, config, posts, simulation).counters);
}

SimulationOutcome all_reduce(const Topology& topology, const std::string& algorithm,
                             FlowControlMode mode, Fidelity fidelity) {
  SimulationConfig simulation;
  simulation.fidelity = fidelity;
  const SimulationOutcome outcome =
      test::run_collective(algorithm, topology, 256 << 10, in_mode(mode), simulation);
  INFO(outcome.failure);
  CHECK(outcome.verified);
  return outcome;
}

TEST_CASE("A packet that finds its link taken by a packet from elsewhere is a conflict") {
  // Nodes 0, 1 and 2 in a line: what 0 sends to 2 comes to router 1 some 160 cycles later.
  for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
    CHECK(conflicts({{0, 2, 256, 0}}, fidelity) == 0);
    CHECK(conflicts({{0, 2, 256, 0}, {1, 2, 256, 0}}, fidelity) == 0);
    CHECK(conflicts({{0, 2, 256, 0}, {1, 2, 256, 1000}}, fidelity) == 0);
    CHECK(conflicts({{0, 2, 256, 0}, {1, 2, 256, 150}}, fidelity) == 1);
    // Of two streams every packet but the first meets one of the other.
    CHECK(conflicts({{0, 2, 10 * 256, 0}, {1, 2, 10 * 256, 154}}, fidelity) == 19);
  }
}

TEST_CASE("Messages of one sender that follow each other are no conflict") {
  for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
    CHECK(conflicts({{0, 2, 4096, 0}, {0, 1, 4096, 0}, {0, 2, 4096, 0}}, fidelity) == 0);
  }
}

TEST_CASE("DBTREE's messages meet on the links of a torus, MULTITREE's and the rings' never do",
          "[performance]") {
  const Topology torus = make_torus({8, 8}, kDefaultLink);
  for (const FlowControlMode mode : {FlowControlMode::packet, FlowControlMode::message}) {
    for (const char* name : {"multitree", "multitree_translated", "2d_ring", "ring"}) {
      CAPTURE(name);
      CHECK(test::link_conflicts(all_reduce(torus, name, mode, Fidelity::train).counters) == 0);
    }
    const SimulationOutcome train = all_reduce(torus, "dbtree", mode, Fidelity::train);
    const SimulationOutcome cycle = all_reduce(torus, "dbtree", mode, Fidelity::cycle);
    CHECK(test::link_conflicts(train.counters) > train.latency.messages);
    CHECK(test::link_conflicts(train.counters) == test::link_conflicts(cycle.counters));
  }
}

TEST_CASE("DBTREE's messages meet nowhere where all nodes are neighbours") {
  const Topology full = make_fully_connected(16, kDefaultLink);
  CHECK(test::link_conflicts(
            all_reduce(full, "dbtree", FlowControlMode::packet, Fidelity::train).counters) == 0);
}

}  // namespace
}  // namespace espalier
