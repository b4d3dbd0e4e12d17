// Sleeping is an optimization: evaluating every module in every cycle changes nothing.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;
using test::reproducible;

SimulationConfig clocked(bool always, double stalls = 0, std::uint64_t seed = 1) {
  SimulationConfig simulation;
  simulation.always_clocked = always;
  simulation.stall_probability = stalls;
  simulation.seed = seed;
  return simulation;
}

SystemConfig variant(std::uint64_t v) {
  SystemConfig config = in_mode(v % 2 == 0 ? FlowControlMode::message : FlowControlMode::packet);
  config.router.vc_depth_flits = 17 + static_cast<std::uint32_t>(v * 31 % 60);
  config.router.pipeline_cycles = v % 4;
  config.router.vcs = 2 + static_cast<std::uint32_t>(v % 3);
  config.router.hold = v / 2 % 2 == 0 ? SwitchHold::packet : SwitchHold::flit;
  config.router.crossbar_inputs = v / 4 % 2 == 0 ? CrossbarInputs::port : CrossbarInputs::vc;
  config.router.switching = v / 3 % 2 == 0 ? Switching::vct : Switching::wormhole;
  config.ni.lockstep = static_cast<LockstepMode>(v % 4);
  config.ni.dma_bytes_per_cycle = v % 3 == 0 ? 24 : 0;
  config.ni.buffer_flits = v % 5 == 0 ? 20 : 318;
  config.ni.send_queue = v % 4 == 0 ? 1 : 16;
  config.ni.ports = v % 5 == 1 ? 1 : 0;
  if (v % 3 == 1) config.ni.reduction = {ReductionMode::after_message, 3, 48, 64};
  if (v % 3 == 2) config.ni.reduction = {ReductionMode::streaming, 2, 8, 1};
  return config;
}

LinkSpec some_link(std::uint64_t v) {
  const std::uint64_t rates[] = {16'000'000'000, 12'000'000'000, 16'000'000'000, 7'000'000'000};
  return link_of(1 + v * 11 % 50, rates[v % 4]);
}

TEST_CASE("Collectives end alike whether modules sleep or not") {
  std::uint64_t v = 0;
  for (const char* algorithm : {"ring", "bidirectional_ring", "2d_ring", "multitree"}) {
    for (int i = 0; i < 6; ++i) {
      ++v;
      const Topology topology =
          v % 2 == 0 ? make_torus({3, 3}, some_link(v)) : make_mesh({2, 3}, some_link(v));
      const double stalls = v % 4 == 3 ? 0.1 : 0;
      CAPTURE(algorithm, v);
      const auto asleep =
          test::run_collective(algorithm, topology, 5000, variant(v), clocked(false, stalls, v));
      const auto awake =
          test::run_collective(algorithm, topology, 5000, variant(v), clocked(true, stalls, v));
      CHECK(asleep.failure == "");
      CHECK(asleep.verified);
      CHECK(reproducible(asleep) == reproducible(awake));
      CHECK(asleep.evaluations < awake.evaluations);
    }
  }
}

TEST_CASE("Uniform traffic ends alike whether modules sleep or not") {
  for (std::uint64_t v = 1; v <= 12; ++v) {
    const Topology topology =
        v % 2 == 0 ? make_torus({4, 3}, some_link(v)) : make_mesh({3, 3}, some_link(v));
    TrafficConfig traffic;
    traffic.injection_rate = 0.1 + 0.2 * static_cast<double>(v % 4);
    traffic.message_bytes = 16 + 100 * (v % 5);
    traffic.warmup_cycles = 0;
    traffic.measure_cycles = 600;
    traffic.drain_cycles = 0;
    traffic.seed = v;
    const double stalls = v % 3 == 2 ? 0.1 : 0;
    CAPTURE(v);
    const auto asleep = test::run_traffic(topology, traffic, variant(v), clocked(false, stalls, v));
    const auto awake = test::run_traffic(topology, traffic, variant(v), clocked(true, stalls, v));
    CHECK(asleep.failure == "");
    CHECK(asleep.latency.messages > 10);
    CHECK(reproducible(asleep) == reproducible(awake));
    CHECK(asleep.evaluations < awake.evaluations);
  }
}

TEST_CASE("Long silences are slept through to the right cycle") {
  // Farther apart than any window of near wake-ups.
  const Topology pair = make_mesh({2}, link_of(3000));
  SystemConfig config;
  config.router.vc_depth_flits = 7000;
  std::vector<test::Post> posts;
  for (const Cycle ready : {0U, 1023U, 1024U, 1025U, 5000U, 50'000U, 250'001U}) {
    posts.push_back({0, 1, 64, ready});
  }
  const auto result = test::post_messages(pair, config, posts);
  CHECK(result.violation.empty());
  for (std::size_t p = 0; p < posts.size(); ++p) {
    // The three around cycle 1024 share the port: 5 flits each, one after the other.
    const Cycle queued = p == 2 ? 4 : p == 3 ? 8 : 0;
    CHECK(result.delivered[p] == posts[p].ready + 5 + 11 + 3000 + queued);
  }
}

}  // namespace
}  // namespace espalier
