// What train fidelity costs: decisions, not bytes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::in_mode;

SimulationConfig train() {
  SimulationConfig simulation;
  simulation.fidelity = Fidelity::train;
  return simulation;
}

TEST_CASE("Sixteen times the bytes take the same number of decisions") {
  const Topology torus = make_torus({4, 4}, test::kDefaultLink);
  for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
    for (const char* algorithm : {"multitree", "ring", "2d_ring"}) {
      CAPTURE(algorithm);
      const auto small =
          test::run_collective(algorithm, torus, Bytes{1} << 24, in_mode(mode), train());
      const auto large =
          test::run_collective(algorithm, torus, Bytes{1} << 28, in_mode(mode), train());
      CHECK(small.verified);
      CHECK(large.verified);
      CHECK(large.flit_hops > 15 * small.flit_hops);
      CHECK(large.evaluations < small.evaluations + small.evaluations / 50);
    }
  }
}

// A fraction of a flit a cycle: packets wait for their data at the NI's port, and for credits at
// the injection port.
TEST_CASE("Sixteen times the bytes take the same number of decisions on slow and unequal links") {
  const auto with_rate = [](std::uint64_t sixteenths) {
    LinkSpec link = test::kDefaultLink;
    link.bytes_per_second = link.bytes_per_second / 16 * sixteenths;
    return link;
  };
  SystemConfig config = in_mode(FlowControlMode::message);
  config.router.vc_depth_flits = 700;  // more than the round trip
  for (const std::uint64_t sixteenths : {15U, 12U, 8U}) {
    const Topology torus = make_torus({4, 4}, with_rate(sixteenths));
    for (const char* algorithm : {"multitree", "ring"}) {
      CAPTURE(algorithm, sixteenths);
      const auto small = test::run_collective(algorithm, torus, Bytes{1} << 24, config, train());
      const auto large = test::run_collective(algorithm, torus, Bytes{1} << 28, config, train());
      CHECK(small.verified);
      CHECK(large.verified);
      CHECK(large.flit_hops > 15 * small.flit_hops);
      CHECK(large.evaluations < small.evaluations + small.evaluations / 20);
    }
  }
}

// Links send what the buffer takes, and wait for its credits.
TEST_CASE(
    "Four times the bytes take few more decisions where buffers do not cover the round trip") {
  for (const std::uint64_t sixteenths : {16U, 15U}) {
    LinkSpec link = test::kDefaultLink;
    link.bytes_per_second = link.bytes_per_second / 16 * sixteenths;
    const Topology torus = make_torus({4, 4}, link);
    for (const std::uint32_t depth : {159U, 80U}) {  // a half and a quarter of the round trip
      SystemConfig config = in_mode(FlowControlMode::message);
      config.router.vc_depth_flits = depth;
      for (const char* algorithm : {"multitree", "ring"}) {
        CAPTURE(algorithm, sixteenths, depth);
        const auto small = test::run_collective(algorithm, torus, Bytes{1} << 24, config, train());
        const auto large = test::run_collective(algorithm, torus, Bytes{1} << 26, config, train());
        CHECK(small.verified);
        CHECK(large.verified);
        CHECK(2 * large.flit_hops > 7 * small.flit_hops);
        CHECK(2 * large.evaluations < 3 * small.evaluations);
        // Packets have 16 flits: few of them are decided one by one.
        CHECK(160 * small.evaluations < small.flit_hops);
      }
    }
  }
}

// The reason of most packets that went one by one; packets behind them are not asked.
StopReason main_reason(const PacketStops& stops) {
  return static_cast<StopReason>(std::max_element(stops.flits.begin(), stops.flits.end() - 1) -
                                 stops.flits.begin());
}

TEST_CASE("A run counts which packets go one by one, and why") {
  const auto stops = [](const char* algorithm, const SystemConfig& config,
                        std::uint64_t sixteenths = 16) {
    LinkSpec link = test::kDefaultLink;
    link.bytes_per_second = link.bytes_per_second / 16 * sixteenths;
    return test::run_collective(algorithm, make_torus({4, 4}, link), Bytes{1} << 20, config,
                                train())
        .stops;
  };
  test::ShareOfCases share(2);
  for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
    if (!share.take()) continue;
    const PacketStops covered = stops("ring", in_mode(mode));
    CHECK(covered.flit_hops > 100'000);
    CHECK(covered.share().value() < 0.001);
    const PacketStops direct = stops("direct", in_mode(mode));
    CHECK(direct.share().value() > 0.5);
    CHECK(direct[StopReason::contention] > direct[StopReason::credits]);

    SystemConfig dma = in_mode(mode);
    dma.ni.dma_bytes_per_cycle = 64;
    CHECK(stops("ring", dma).share().value() > 0.95);
    CHECK(main_reason(stops("ring", dma)) == StopReason::data);
  }
  SystemConfig shallow = in_mode(FlowControlMode::message);
  shallow.router.vc_depth_flits = 160;  // half of the round trip
  CHECK(stops("ring", shallow).share().value() > 0.01);
  CHECK(main_reason(stops("ring", shallow)) == StopReason::credits);
  const PacketStops choosing = stops("multitree", in_mode(FlowControlMode::packet), 12);
  CHECK(choosing.share().value() > 0.5);
  CHECK(main_reason(choosing) == StopReason::vc_choice);
}

TEST_CASE("A lone message of any length is one train") {
  const Topology line = make_mesh({4}, test::kDefaultLink);
  const auto hops_and_cost = [&](Bytes bytes) {
    const test::Report report = test::in_child([&] {
      SystemConfig config;
      const SystemTiming timing = time_links(line, config.clock);
      RouteSet routes(line);
      Operation operation;
      operation.from = NodeId(0);
      operation.to = NodeId(3);
      operation.flow = FlowId(0);
      operation.route = routes.add(line, route_packet(line, operation.from, operation.to));
      operation.bytes = bytes;
      ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), false);
      test::PostLog log(clock, 1);
      Fabric fabric("net", clock, config, train(), line, timing, routes, {operation.route}, 1, log);
      fabric.ni(operation.from).post(operation);
      sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
      return test::Report{{fabric.flit_hops(), clock.evaluations(), log.delivery_cycles()[0]}, {}};
    });
    return report.numbers;
  };
  const auto small = hops_and_cost(Bytes{1} << 14);
  const auto large = hops_and_cost(Bytes{1} << 22);
  // Each further hop adds latency and pipeline; docs/timing.md.
  CHECK(small[2] == 1024 + 1 + 161 + 2 * 152);
  CHECK(large[2] == 262144 + 1 + 161 + 2 * 152);
  CHECK(large[0] == 4 * (262144 + 1));
  CHECK(large[1] <= small[1] + 2);
  CHECK(large[1] < 30);
}

}  // namespace
}  // namespace espalier
