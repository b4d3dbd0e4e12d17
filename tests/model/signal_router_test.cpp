// The built-in router behind signals decides in every cycle as the router that it replaces.
#include <catch2/catch.hpp>

#include "alg/routes/routing.h"
#include "model_test_support.h"
#include "signal_systems.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;

const std::vector<std::string> kSeveral{"r_1_1", "r_2_1", "r_0_3"};

void check_equal(RunPoint point, const Topology& topology, const std::vector<std::string>& routers,
                 const ScheduleTables* tables = nullptr) {
  point.simulation.fidelity = Fidelity::cycle;
  point.simulation.monitors = true;
  const test::Report built_in = test::delivery_log(point, topology, tables);
  point.system.topology.external.routers = routers;
  const test::Report external = test::delivery_log(point, topology, tables);
  CAPTURE(topology.name(), routers.front(), routers.size(), built_in.numbers.size());
  CHECK(built_in.numbers.size() > 40);
  CHECK(built_in.text == "");
  CHECK(external.text == "");
  CHECK(test::differences(built_in, external) == 0);
}

RunPoint traffic_point(const SystemConfig& system, double rate, Bytes bytes, std::uint64_t seed) {
  RunPoint point;
  point.system = system;
  point.traffic.emplace();
  point.traffic->injection_rate = rate;
  point.traffic->message_bytes = bytes;
  point.traffic->warmup_cycles = 0;
  point.traffic->measure_cycles = test::kSanitized ? 150 : 600;
  point.traffic->drain_cycles = 0;
  point.traffic->seed = seed;
  return point;
}

TEST_CASE("Single messages of all pairs arrive in the same cycle through a router behind signals") {
  const Topology topology = make_torus({4, 4}, link_of(5));
  RunPoint point;
  point.traffic.emplace();
  point.traffic->pattern = TrafficPattern::file;
  point.traffic->message_bytes = 256;
  Cycle ready = 0;
  for (std::size_t from = 0; from < topology.num_nodes(); ++from) {
    for (std::size_t to = 0; to < topology.num_nodes(); ++to) {
      if (from == to) continue;
      point.traffic->messages.push_back({ready, NodeId(from), NodeId(to), 256});
      ready += 200;
    }
  }
  check_equal(point, topology, {"r_1_1"});
  check_equal(point, topology, kSeveral);
}

TEST_CASE("Uniform traffic passes routers behind signals as it passes the built-in ones") {
  const Topology topology = make_torus({8, 8}, link_of(3));
  for (const FlowControlMode mode : test::kFlowControlModes) {
    check_equal(traffic_point(in_mode(mode), 0.3, 256, 7), topology, {"r_3_4"});
    check_equal(traffic_point(in_mode(mode), 0.3, 256, 8), topology, kSeveral);
  }
}

TEST_CASE("Back-pressure through shallow buffers is the same behind signals") {
  const Topology topology = make_torus({4, 4}, link_of(1));
  std::uint64_t seed = 40;
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const SwitchHold hold : {SwitchHold::packet, SwitchHold::flit}) {
      for (const CrossbarInputs crossbar : {CrossbarInputs::port, CrossbarInputs::vc}) {
        SystemConfig system = in_mode(mode);
        system.router.vcs = 2;
        system.router.vc_depth_flits = 17;
        system.router.hold = hold;
        system.router.crossbar_inputs = crossbar;
        system.router.pipeline_cycles = seed % 2 == 0 ? 1 : 3;
        system.credit_latency_cycles = seed % 3 + 1;
        check_equal(traffic_point(system, 0.9, 200, ++seed), topology, kSeveral);
      }
    }
  }
}

TEST_CASE("Wormhole packets and rotating VCs are the same behind signals") {
  const Topology topology = make_mesh({4, 4}, link_of(2));
  SystemConfig system = in_mode(FlowControlMode::packet);
  system.router.vc_depth_flits = 4;
  system.router.switching = Switching::wormhole;
  system.router.hold = SwitchHold::flit;
  system.router.vc_order = VcOrder::rotating;
  check_equal(traffic_point(system, 0.6, 256, 5), topology, kSeveral);
}

TEST_CASE("Links of half a flit per cycle keep their rate behind signals") {
  const Topology topology = make_torus({4, 4}, link_of(4, test::kFlitPerCycle / 2));
  check_equal(traffic_point(in_mode(FlowControlMode::packet), 0.2, 300, 6), topology, kSeveral);
}

TEST_CASE("Every router of a mesh may be behind signals") {
  const Topology topology = make_mesh({3, 3}, link_of(1));
  std::vector<std::string> all;
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    all.push_back(topology.vertex_name(NodeId(v)));
  }
  check_equal(traffic_point({}, 0.4, 256, 9), topology, all);
}

TEST_CASE("Collectives end in the same cycle through routers behind signals") {
  test::ShareOfCases share(3);
  for (const char* algorithm : {"multitree", "ring"}) {
    for (const FlowControlMode mode : test::kFlowControlModes) {
      if (!share.take()) continue;
      const Topology topology = make_torus({4, 4}, link_of(6));
      const ScheduleTables tables =
          test::tables_for(algorithm, topology, (test::kSanitized ? 8 : 32) * 1024);
      RunPoint point;
      point.system = in_mode(mode);
      point.collective.emplace();
      check_equal(point, topology, kSeveral, &tables);
    }
  }
}

}  // namespace
}  // namespace espalier
