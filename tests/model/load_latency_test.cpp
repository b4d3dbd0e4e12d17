// Latency against load: windows, closed loops, bursts, queueing theory, and BookSim 2.
#include <catch2/catch.hpp>
#include <cmath>

#include "model_test_support.h"
#include "tests/support/generate_traffic.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;

constexpr double kScale = 1e6;

TrafficStatistics measured(const Topology& topology, const TrafficConfig& traffic,
                           const SystemConfig& system, Fidelity fidelity = Fidelity::automatic) {
  RunPoint point;
  point.system = system;
  point.traffic = traffic;
  point.simulation.fidelity = fidelity;
  const test::Report report = test::in_child([&] {
    const SimulationOutcome outcome = simulate_traffic(topology, point, {});
    const TrafficStatistics& t = *outcome.traffic;
    const auto scaled = [](double value) {
      return static_cast<std::uint64_t>(value * kScale + 0.5);
    };
    return test::Report{
        {t.messages, scaled(t.mean_cycles), t.p50_cycles, t.p95_cycles, t.p99_cycles, t.max_cycles,
         scaled(t.half_width_cycles.value_or(0)), scaled(*t.generated), scaled(*t.accepted),
         scaled(*t.accepted_min), t.saturated.value_or(false) ? 1U : 0U, outcome.latency.messages},
        outcome.failure};
  });
  if (!report.text.empty()) throw std::runtime_error(report.text);
  const auto& n = report.numbers;
  TrafficStatistics t;
  t.messages = n[0];
  t.mean_cycles = static_cast<double>(n[1]) / kScale;
  t.p50_cycles = n[2];
  t.p95_cycles = n[3];
  t.p99_cycles = n[4];
  t.max_cycles = n[5];
  t.half_width_cycles = static_cast<double>(n[6]) / kScale;
  t.generated = static_cast<double>(n[7]) / kScale;
  t.accepted = static_cast<double>(n[8]) / kScale;
  t.accepted_min = static_cast<double>(n[9]) / kScale;
  t.saturated = n[10] != 0;
  return t;
}

TrafficConfig at_rate(double rate, Bytes bytes, Cycle warmup, Cycle measure, Cycle drain = 50'000) {
  TrafficConfig traffic;
  traffic.injection_rate = rate;
  traffic.message_bytes = bytes;
  traffic.warmup_cycles = warmup;
  traffic.measure_cycles = measure;
  traffic.drain_cycles = drain;
  return traffic;
}

// The mesh of configs/latency/mesh_8x8.yaml.
SystemConfig booksim_mesh() {
  SystemConfig system = in_mode(FlowControlMode::packet);
  system.flow_control.payload_bytes = 48;
  system.router.vc_depth_flits = 68;
  system.router.vc_order = VcOrder::rotating;
  system.credit_latency_cycles = 1;
  system.ni.ports = 1;
  return system;
}

// Arrivals are geometric, and a message of F flits occupies its link for F cycles: the queue is
// Geo/D/1, and a message waits for rho (F - 1) / (2 (1 - rho)) cycles on the average (Hunter,
// "Mathematical Techniques of Applied Probability", vol. 2). For long messages this is M/D/1,
// rho F / (2 (1 - rho)).
TEST_CASE("A message waits for its link as long as queueing theory says") {
  const Topology pair = make_mesh({2}, link_of(5));
  SystemConfig system = in_mode(FlowControlMode::packet);
  system.router.vc_depth_flits = 400;
  system.ni.ports = 1;
  TrafficConfig lone;
  lone.pattern = TrafficPattern::file;
  lone.messages = {{0, NodeId(0), NodeId(1), 256}};
  const auto idle = static_cast<double>(test::run_traffic(pair, lone, system).latency.max_cycles);
  const double flits = 17;
  for (const double load : {0.1, 0.3, 0.6, 0.8}) {
    CAPTURE(load);
    TrafficConfig traffic = at_rate(load, 256, 20'000, 1'000'000);
    traffic.pattern = TrafficPattern::neighbor;
    const TrafficStatistics t = measured(pair, traffic, system);
    const double wait = load * (flits - 1) / (2 * (1 - load));
    CAPTURE(t.mean_cycles - idle, wait, *t.half_width_cycles);
    CHECK(std::abs(t.mean_cycles - idle - wait) < 2 * *t.half_width_cycles + 0.02 * wait);
    CHECK(*t.half_width_cycles < 0.1 * wait + 0.1);
    CHECK(*t.saturated == false);
    CHECK(*t.generated == Approx(load).epsilon(0.02));
    CHECK(*t.accepted == Approx(*t.generated).epsilon(0.005));
  }
}

// BookSim 2 (booksim/booksim2, 28f43299): 8x8 mesh, dimension order, uniform packets of 4 flits, 4
// VCs of 68 flits, separable input-first allocators, hold_switch_for_packet = 1; packet latency.
// Its router takes 4 cycles a hop, so latencies are compared by their growth from load 0.05 on.
// Its figures have one digit after the point.
TEST_CASE("Latency on an 8x8 mesh grows with the load as in BookSim 2", "[performance]") {
  const Topology mesh = make_mesh({8, 8}, link_of(1));
  const SystemConfig system = booksim_mesh();
  const auto latency = [&](double load) {
    return measured(mesh, at_rate(load, 48, 5000, 20'000), system).mean_cycles;
  };
  const double base = latency(0.05);
  struct Row {
    double load;
    double booksim;
  };
  for (const Row& row : {Row{0.1, 31.2}, {0.2, 33.7}, {0.3, 39.6}, {0.35, 46.0}}) {
    const double growth = row.booksim - 30.6;
    CAPTURE(row.load, growth, latency(row.load) - base);
    CHECK(std::abs(latency(row.load) - base - growth) < 0.1 * growth + 0.1);
  }
}

TEST_CASE("With the lowest VC first, packets queue behind each other sooner", "[performance]") {
  const Topology mesh = make_mesh({8, 8}, link_of(1));
  SystemConfig system = booksim_mesh();
  const TrafficConfig traffic = at_rate(0.4, 48, 3000, 6000);
  const double rotating = measured(mesh, traffic, system).mean_cycles;
  system.router.vc_order = VcOrder::lowest;
  CHECK(measured(mesh, traffic, system).mean_cycles > 1.2 * rotating);
}

TEST_CASE("Both fidelities measure the same in open and closed loops, at any load") {
  const Topology mesh = make_mesh({4, 4}, link_of(3));
  SystemConfig system = in_mode(FlowControlMode::packet);
  system.router.vc_depth_flits = 40;
  for (const TrafficLoop loop : {TrafficLoop::open, TrafficLoop::closed}) {
    for (const double rate : {0.05, 0.5, 2.0}) {
      for (const std::uint32_t burst : {0U, 4U}) {
        if (burst != 0 && rate >= 1) continue;
        TrafficConfig traffic = at_rate(rate, 200, 500, 1500, 2000);
        traffic.loop = loop;
        traffic.reply_bytes = 500;
        traffic.burst_messages = burst;
        CAPTURE(static_cast<int>(loop), rate, burst);
        const auto train = measured(mesh, traffic, system, Fidelity::train);
        const auto cycle = measured(mesh, traffic, system, Fidelity::cycle);
        CHECK(train.messages > 0);
        CHECK(train.messages == cycle.messages);
        CHECK(train.mean_cycles == cycle.mean_cycles);
        CHECK(train.p50_cycles == cycle.p50_cycles);
        CHECK(train.p99_cycles == cycle.p99_cycles);
        CHECK(train.max_cycles == cycle.max_cycles);
        CHECK(*train.accepted == *cycle.accepted);
        CHECK(*train.generated == *cycle.generated);
        CHECK(*train.saturated == *cycle.saturated);
      }
    }
  }
}

TEST_CASE("A network that accepts less than its sources generate is saturated") {
  const Topology mesh = make_mesh({4, 4}, link_of(1));
  SystemConfig system = in_mode(FlowControlMode::packet);
  system.ni.ports = 1;
  const TrafficStatistics low = measured(mesh, at_rate(0.3, 240, 2000, 5000), system);
  const TrafficStatistics high = measured(mesh, at_rate(1.0, 240, 2000, 5000), system);
  CHECK(*low.saturated == false);
  CHECK(*low.accepted == Approx(*low.generated).epsilon(0.05));
  CHECK(*high.saturated == true);
  CHECK(*high.accepted < 0.95 * *high.generated);
  CHECK(high.mean_cycles > 5 * low.mean_cycles);
}

// Seven flows of a transposed 8x8 mesh share a link, which gives each 1/7 flit per cycle.
TEST_CASE("A permutation that starves some sources saturates the network while the mean is well") {
  const Topology mesh = make_mesh({8, 8}, link_of(1));
  TrafficConfig traffic = at_rate(0.16, 48, 5000, 10'000);
  traffic.pattern = TrafficPattern::transpose;
  const TrafficStatistics above = measured(mesh, traffic, booksim_mesh());
  CHECK(*above.saturated == true);
  CHECK(*above.accepted > 0.96 * *above.generated);
  CHECK(*above.accepted_min < 0.9 * 0.16);
  traffic.injection_rate = 0.13;
  const TrafficStatistics below = measured(mesh, traffic, booksim_mesh());
  CHECK(*below.saturated == false);
  CHECK(*below.accepted_min > 0.8 * 0.13);  // by chance less is generated, too
}

TEST_CASE("A burst that is under way when the window ends does not saturate a network") {
  const Topology mesh = make_mesh({8, 8}, link_of(1));
  TrafficConfig traffic = at_rate(0.05, 48, 5000, 10'000);
  traffic.burst_messages = 8;
  CHECK(*measured(mesh, traffic, booksim_mesh()).saturated == false);
}

TEST_CASE("Only messages of the window are measured, and sources go on until they have arrived") {
  const Topology mesh = make_mesh({4, 4}, link_of(20));
  const SystemConfig system = in_mode(FlowControlMode::packet);
  RouteSet routes(mesh);
  const TrafficConfig traffic = at_rate(0.2, 256, 700, 1300, 4000);
  std::size_t in_window = 0;
  std::size_t all = 0;
  for (const Operation& message : generate_traffic(mesh, traffic, 17, routes)) {
    ++all;
    if (message.ready >= 700 && message.ready < 2000) ++in_window;
  }
  CHECK(measured(mesh, traffic, system).messages == in_window);
  const auto outcome = test::run_traffic(mesh, traffic, system);
  CHECK(outcome.complete);
  CHECK(outcome.latency.messages > in_window);
  CHECK(outcome.latency.messages < all);
  // Without a drain time, the sources stop at the end of the window.
  const TrafficConfig stops = at_rate(0.2, 256, 700, 1300, 0);
  const std::size_t posted = generate_traffic(mesh, stops, 17, routes).size();
  CHECK(test::run_traffic(mesh, stops, system).latency.messages == posted);
}

// Every source draws a request in every cycle in which it may have one more.
TEST_CASE("A source with one outstanding request asks again in the cycle after the reply") {
  const Topology pair = make_mesh({2}, link_of(7));
  SystemConfig system = in_mode(FlowControlMode::packet);
  TrafficConfig traffic = at_rate(2, 16, 1000, 20'000);  // a message of 2 flits in every cycle
  traffic.pattern = TrafficPattern::neighbor;
  traffic.loop = TrafficLoop::closed;
  traffic.reply_bytes = 100;
  traffic.outstanding = 1;
  const TrafficStatistics one = measured(pair, traffic, system);
  CHECK(one.p50_cycles == one.max_cycles);
  const double round = static_cast<double>(one.p50_cycles) + 1;
  CHECK(static_cast<double>(one.messages) == Approx(2 * 20'000 / round).margin(2));
  CHECK(*one.saturated == false);
  traffic.outstanding = 3;
  const TrafficStatistics three = measured(pair, traffic, system);
  CHECK(static_cast<double>(three.messages) ==
        Approx(3.0 * static_cast<double>(one.messages)).epsilon(0.2));
}

TEST_CASE("Hotspots get their share of the messages, and bursts keep the rate") {
  const Topology torus = make_torus({4, 4}, link_of(10));
  RouteSet routes(torus);
  TrafficConfig traffic = at_rate(0.17, 256, 0, 100'000, 0);
  traffic.pattern = TrafficPattern::hotspot;
  traffic.hotspots = {3, 12};
  traffic.hotspot_share = 0.4;
  std::size_t to_hotspots = 0;
  const auto to_some = generate_traffic(torus, traffic, 17, routes);
  for (const Operation& message : to_some) {
    if (message.to.index() == 3 || message.to.index() == 12) ++to_hotspots;
  }
  // 0.4, and 2 of 15 of the others; a hotspot does not send to itself.
  const double share = static_cast<double>(to_hotspots) / static_cast<double>(to_some.size());
  CHECK(share == Approx(0.4 + 0.6 * 2 / 15).epsilon(0.05));

  traffic.pattern = TrafficPattern::uniform;
  traffic.injection_rate = 0.2;
  traffic.burst_messages = 10;
  const auto in_bursts = generate_traffic(torus, traffic, 17, routes);
  CHECK(static_cast<double>(in_bursts.size()) == Approx(16 * 100'000 * 0.2 / 17).epsilon(0.1));
  // Within a burst, a message follows after 17 cycles on the average; without bursts after 85.
  std::vector<Cycle> gaps;
  for (std::size_t m = 1; m < in_bursts.size(); ++m) {
    if (in_bursts[m].from == in_bursts[m - 1].from) {
      gaps.push_back(in_bursts[m].ready - in_bursts[m - 1].ready);
    }
  }
  std::sort(gaps.begin(), gaps.end());
  CHECK(gaps[gaps.size() / 2] < 25);
  CHECK(gaps[gaps.size() * 97 / 100] > 400);
}

}  // namespace
}  // namespace espalier
