// Networks of several switch planes and of parallel links: how much faster they are than one, in
// both fidelities.
#include <catch2/catch.hpp>

#include "hand_programs.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::outcome_of;
using test::run_by_hand;
using test::run_collective;
using test::run_traffic;

SystemConfig messages() {
  SystemConfig config;
  config.flow_control.mode = FlowControlMode::message;
  config.router.vc_depth_flits = 400;
  return config;
}

Cycle cycles_of(const std::string& algorithm, const Topology& topology, Bytes size) {
  const SimulationOutcome train = run_collective(algorithm, topology, size, messages());
  SimulationConfig by_cycle;
  by_cycle.fidelity = Fidelity::cycle;
  const SimulationOutcome cycle = run_collective(algorithm, topology, size, messages(), by_cycle);
  CHECK(train.verified);
  CHECK(test::reproducible(train) == test::reproducible(cycle));
  return train.cycles;
}

Cycle cycles_of(const Program& program, const Topology& topology, Bytes size) {
  RunPoint point;
  point.system = messages();
  point.collective.emplace();
  point.collective->size = size;
  point.collective->algorithm = "program";
  const auto train = run_by_hand(topology, point, program);
  point.simulation.fidelity = Fidelity::cycle;
  const auto cycle = run_by_hand(topology, point, program);
  CHECK(train.verified);
  CHECK(cycle.verified);
  CHECK(train.cycles == cycle.cycles);
  CHECK(train.messages == cycle.messages);
  return train.cycles;
}

double ratio(Cycle a, Cycle b) { return static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

TEST_CASE("A ring over three unequal planes is as fast as their rates together") {
  const Topology one = make_switch_planes(4, {10});
  const Topology three = make_switch_planes(4, {10, 16, 14});
  for (const char* algorithm : {"ring", "direct", "bidirectional_ring"}) {
    CAPTURE(algorithm);
    const Bytes size = 256 << 10;
    CHECK(ratio(cycles_of(algorithm, one, size), cycles_of(algorithm, three, size)) ==
          Approx(4).epsilon(0.04));
  }
}

TEST_CASE("A program's messages are cut over three unequal planes") {
  const Topology one = make_switch_planes(4, {10});
  const Topology three = make_switch_planes(4, {10, 16, 14});
  for (const std::uint32_t channels : {1U, 3U}) {
    CAPTURE(channels);
    const Program ring = test::ring_program(4, channels);
    const Bytes size = 768 << 10;
    CHECK(ratio(cycles_of(ring, one, size), cycles_of(ring, three, size)) ==
          Approx(4).epsilon(0.05));
  }
}

TEST_CASE("A program's messages to a neighbour are cut over parallel links") {
  const auto pair = [](std::size_t cables) {
    Topology topology("pair");
    topology.add_node("a");
    topology.add_node("b");
    for (std::size_t c = 0; c < cables; ++c) {
      add_cable(topology, NodeId(0), NodeId(1), {25'000, 16'000'000'000}, std::to_string(c));
    }
    return topology;
  };
  const Program send = test::one_send();
  const Bytes size = 256 << 10;
  CHECK(ratio(cycles_of(send, pair(1), size), cycles_of(send, pair(4), size)) ==
        Approx(4).epsilon(0.03));
}

TEST_CASE("Small data are not slower over several planes than over the fastest one") {
  const Topology one = make_switch_planes(4, {16});
  const Topology three = make_switch_planes(4, {10, 16, 14});
  for (const Bytes size : {64U, 1000U, 4096U, 10000U}) {
    CAPTURE(size);
    for (const char* algorithm : {"ring", "direct", "dbtree"}) {
      CAPTURE(algorithm);
      CHECK(cycles_of(algorithm, three, size) <= cycles_of(algorithm, one, size));
    }
    const Program ring = test::ring_program(4);
    CHECK(cycles_of(ring, three, size) <= cycles_of(ring, one, size));
  }
}

TEST_CASE("Traffic takes the planes in turn") {
  const Topology two = make_switch_planes(2, {16, 16});
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  for (Cycle i = 0; i < 20; ++i) traffic.messages.push_back({i, NodeId(0), NodeId(1), 4096});
  const SimulationOutcome outcome = run_traffic(two, traffic, messages());
  SimulationConfig by_cycle;
  by_cycle.fidelity = Fidelity::cycle;
  const SimulationOutcome cycle = run_traffic(two, traffic, messages(), by_cycle);
  CHECK(outcome.complete);
  CHECK(test::reproducible(outcome) == test::reproducible(cycle));
  // 20 messages of 257 flits: ten on each plane.
  CHECK(outcome.cycles < 12 * 257);
}

}  // namespace espalier
