// router.vc_order: destination. Messages to different nodes do not wait behind each other.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::kDefaultLink;
using test::Post;

constexpr Bytes kStream = 8 * 256;  // less than a VC buffer holds

struct OneSwitch {
  FlowControlMode mode;
  Fidelity fidelity;
  VcOrder order;

  // The cycle in which a packet from node 0 to `to` arrives that follows a stream to node 2. Others
  // may send to node 2 a little earlier.
  [[nodiscard]] Cycle arrival(std::size_t to, bool others_send) const {
    SystemConfig config = in_mode(mode);
    config.router.vcs = 4;
    config.router.vc_order = order;
    config.router.crossbar_inputs = CrossbarInputs::vc;
    std::vector<Post> posts{{0, 2, kStream, 10}, {0, to, 256, 10}};
    if (others_send) posts.insert(posts.end(), {{1, 2, kStream, 0}, {4, 2, kStream, 0}});
    SimulationConfig simulation;
    simulation.fidelity = fidelity;
    const test::BenchResult result =
        test::post_messages(make_single_switch(8, kDefaultLink), config, posts, simulation);
    CHECK(result.violation.empty());
    return result.delivered[1];
  }
};

template <class Check>
void for_both_modes_and_fidelities(VcOrder order, Check&& check) {
  for (const FlowControlMode mode : {FlowControlMode::packet, FlowControlMode::message}) {
    for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
      CAPTURE(static_cast<int>(mode), static_cast<int>(fidelity));
      check(OneSwitch{mode, fidelity, order});
    }
  }
}

TEST_CASE("With a VC for each destination a packet does not wait behind those for a busy node") {
  for_both_modes_and_fidelities(VcOrder::destination, [](const OneSwitch& system) {
    CHECK(system.arrival(3, true) == system.arrival(3, false));
    CHECK(system.arrival(5, true) == system.arrival(5, false));
  });
}

TEST_CASE("Destinations that share a VC wait behind each other, as all do in the lowest VC") {
  for_both_modes_and_fidelities(VcOrder::destination, [](const OneSwitch& system) {
    CHECK(system.arrival(6, true) > system.arrival(6, false) + 100);  // 2 and 6, modulo 4
  });
  for_both_modes_and_fidelities(VcOrder::lowest, [](const OneSwitch& system) {
    CHECK(system.arrival(3, true) > system.arrival(3, false) + 100);
  });
}

TEST_CASE(
    "Each dateline class has its own VCs for destinations, and a torus stays free of deadlock") {
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.router.vc_order = VcOrder::destination;
  config.router.vc_depth_flits = 17;
  TrafficConfig traffic;
  traffic.injection_rate = 1;
  traffic.message_bytes = 200;
  traffic.warmup_cycles = 0;
  traffic.measure_cycles = 800;
  traffic.drain_cycles = 0;
  for (const std::uint32_t vcs : {2U, 3U, 4U, 8U}) {
    CAPTURE(vcs);
    config.router.vcs = vcs;
    SimulationConfig simulation;
    simulation.monitors = true;
    simulation.watchdog_cycles = 20'000;
    const SimulationOutcome outcome =
        test::run_traffic(make_torus({5, 4}, test::link_of(4)), traffic, config, simulation);
    CHECK(outcome.failure == "");
    CHECK(outcome.complete);
    CHECK(outcome.latency.messages > 1000);
  }
}

}  // namespace
}  // namespace espalier
