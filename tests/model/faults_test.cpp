// Faults in the hardware: what each adds, to the cycle, and that nobody is wrong for it.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "ni/dma_engine.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::flits_of;
using test::in_mode;
using test::kDefaultLink;
using test::link_of;

constexpr Fidelity kFidelities[] = {Fidelity::cycle, Fidelity::train};

RunPoint point_with(const SystemConfig& system, const FaultsConfig& faults, Fidelity fidelity) {
  RunPoint point;
  point.system = system;
  point.faults = faults;
  point.simulation.fidelity = fidelity;
  return point;
}

// Cycles from issue to visibility of messages that are posted by hand; by message.
std::vector<Cycle> latencies(const Topology& topology, RunPoint point,
                             const std::vector<TrafficMessage>& messages) {
  point.traffic.emplace();
  point.traffic->pattern = TrafficPattern::file;
  point.traffic->messages = messages;
  const test::Report report = test::in_child([&] {
    test::Report result;
    SimulationHooks hooks;
    hooks.delivered = [&](const Operation& operation, Cycle now) {
      result.numbers.push_back(operation.ready);
      result.numbers.push_back(now);
    };
    const SimulationOutcome outcome = simulate_traffic(topology, point, hooks);
    result.text = outcome.failure;
    return result;
  });
  CHECK(report.text == "");
  REQUIRE(report.numbers.size() == 2 * messages.size());
  std::vector<Cycle> result;
  for (const TrafficMessage& message : messages) {
    for (std::size_t i = 0; i < report.numbers.size(); i += 2) {
      if (report.numbers[i] == message.ready) {
        result.push_back(report.numbers[i + 1] - message.ready);
      }
    }
  }
  return result;
}

Cycle lone_latency(const Topology& topology, const RunPoint& point, NodeId from, NodeId to,
                   Bytes bytes) {
  return latencies(topology, point, {{0, from, to, bytes}}).at(0);
}

SimulationOutcome run(const std::string& algorithm, const Topology& topology, Bytes size,
                      RunPoint point) {
  point.collective.emplace();
  const ScheduleTables tables = test::tables_for(algorithm, topology, size);
  return test::outcome_of([&] { return simulate_collective(topology, point, tables, {}); });
}

// Slow links -------------------------------------------------------------------------------------

TEST_CASE("A lone message over a slow link takes its rate and its latency, one way") {
  const Topology line = make_mesh({3}, kDefaultLink);
  struct Fault {
    Cycle cycles_per_flit;
    Cycle latency;
  };
  for (const Fault& fault : {Fault{4, 150}, Fault{1, 600}, Fault{4, 600}, Fault{2, 151}}) {
    FaultsConfig faults;
    SlowLink& slow = faults.slow_links.emplace_back(SlowLink{"0", "r_1", 0, 0});
    if (fault.cycles_per_flit != 1) {
      slow.bytes_per_second = test::kFlitPerCycle / fault.cycles_per_flit;
    }
    if (fault.latency != 150) slow.latency_ps = fault.latency * 1000;
    for (const Fidelity fidelity : kFidelities) {
      CAPTURE(fault.cycles_per_flit, fault.latency, static_cast<int>(fidelity));
      const SystemConfig config = in_mode(FlowControlMode::packet);
      const RunPoint point = point_with(config, faults, fidelity);
      const std::uint64_t flits = flits_of(config, 256);
      REQUIRE(flits == 17);
      // docs/timing.md, with the slow link's rate between its first flit and its last.
      const Cycle serialization = (flits - 1) * fault.cycles_per_flit + 1;
      CHECK(lone_latency(line, point, NodeId(0), NodeId(1), 256) ==
            serialization + 11 + fault.latency);
      CHECK(lone_latency(line, point, NodeId(0), NodeId(2), 256) ==
            serialization + 11 + fault.latency + 152);
      CHECK(lone_latency(line, point, NodeId(1), NodeId(0), 256) == flits + 161);
      CHECK(lone_latency(line, point, NodeId(1), NodeId(2), 256) == flits + 161);
    }
  }
}

// Where all links are known to be slow, steps last as long as those; where one of them is slow and
// nobody knows, they last as long as on healthy links.
TEST_CASE("Lockstep estimates are the healthy system's") {
  const Topology mesh = make_mesh({3, 3}, kDefaultLink);
  const Topology slow_mesh = make_mesh({3, 3}, link_of(150, test::kFlitPerCycle / 8));
  SystemConfig config = in_mode(FlowControlMode::message);
  config.ni.lockstep = LockstepMode::full;
  FaultsConfig faults;
  faults.slow_links = {{"4", "5", test::kFlitPerCycle / 8, 0}};
  const auto healthy = run("multitree", mesh, 90'000, point_with(config, {}, Fidelity::train));
  const auto unknown = run("multitree", mesh, 90'000, point_with(config, faults, Fidelity::train));
  const auto known = run("multitree", slow_mesh, 90'000, point_with(config, {}, Fidelity::train));
  CHECK(healthy.verified);
  CHECK(unknown.failure == "");
  CHECK(unknown.verified);
  CHECK(known.verified);
  CHECK(unknown.cycles > healthy.cycles);
  CHECK(unknown.cycles < known.cycles);
}

// Late NIs and skewed clocks ---------------------------------------------------------------------

TEST_CASE("RING ends as much later as one of its hosts is late, or behind") {
  const Topology torus = make_torus({3, 3}, kDefaultLink);
  for (const LockstepMode lockstep : {LockstepMode::off, LockstepMode::estimate}) {
    for (const Fidelity fidelity : kFidelities) {
      SystemConfig config = test::isca21();
      config.ni.lockstep = lockstep;
      const auto healthy = run("ring", torus, 9 * 2048, point_with(config, {}, fidelity));
      for (const std::uint32_t node : {0U, 4U, 8U}) {
        CAPTURE(static_cast<int>(lockstep), static_cast<int>(fidelity), node);
        FaultsConfig late;
        late.late_nis = {{node, 777}};
        FaultsConfig behind;
        behind.clock_skew = {{node, 777, 0}};
        FaultsConfig both;
        both.late_nis = {{node, 700}};
        both.clock_skew = {{node, 77, 0}};
        for (const FaultsConfig& faults : {late, behind, both}) {
          const auto outcome = run("ring", torus, 9 * 2048, point_with(config, faults, fidelity));
          CHECK(outcome.failure == "");
          CHECK(outcome.verified);
          CHECK(outcome.cycles == healthy.cycles + 777);
        }
      }
    }
  }
}

// With "full" a step ends by the counter alone, so that every step but the last, which nothing
// waits for, adds what the clocks are slower.
TEST_CASE("Slow clocks add their cycles per step to every step of MULTITREE but the last") {
  for (const Topology& topology :
       {make_torus({4, 4}, link_of(20)), make_mesh({3, 3}, link_of(20))}) {
    SystemConfig config = in_mode(FlowControlMode::message);
    config.ni.lockstep = LockstepMode::full;
    const Bytes size = topology.num_nodes() * 1024;
    const Timestep steps = test::tables_for("multitree", topology, size).num_steps;
    for (const Fidelity fidelity : kFidelities) {
      const auto healthy = run("multitree", topology, size, point_with(config, {}, fidelity));
      CHECK(healthy.verified);
      for (const Cycle per_step : {Cycle{1}, Cycle{7}, Cycle{100}}) {
        CAPTURE(topology.name(), static_cast<int>(fidelity), per_step, steps);
        FaultsConfig faults;
        for (std::uint32_t n = 0; n < topology.num_nodes(); ++n) {
          faults.clock_skew.push_back({n, 0, per_step});
        }
        const auto slow = run("multitree", topology, size, point_with(config, faults, fidelity));
        CHECK(slow.failure == "");
        CHECK(slow.verified);
        CHECK(slow.cycles == healthy.cycles + (steps - 1) * per_step);
        // One slow clock cannot do more.
        faults.clock_skew = {{3, 0, per_step}};
        const auto one = run("multitree", topology, size, point_with(config, faults, fidelity));
        CHECK(one.verified);
        CHECK(one.cycles > healthy.cycles);
        CHECK(one.cycles <= slow.cycles);
      }
    }
  }
}

// DMA jitter -------------------------------------------------------------------------------------

TEST_CASE("Every message of its own waits for its own delay of memory") {
  const Topology pair = make_mesh({2}, kDefaultLink);
  constexpr Cycle kMost = 50;
  for (const std::uint64_t bytes_per_cycle : {0U, 16U}) {
    for (const Fidelity fidelity : kFidelities) {
      CAPTURE(bytes_per_cycle, static_cast<int>(fidelity));
      SystemConfig config = in_mode(FlowControlMode::packet);
      config.ni.dma_bytes_per_cycle = bytes_per_cycle;
      FaultsConfig faults;
      faults.dma_jitter = DmaJitterConfig{kMost, 9, {1}};
      std::vector<TrafficMessage> messages;
      for (Cycle m = 0; m < 10; ++m) {
        messages.push_back({m * 1000, NodeId(0), NodeId(1), 256});
        messages.push_back({m * 1000 + 500, NodeId(1), NodeId(0), 256});
      }
      const auto healthy = latencies(pair, point_with(config, {}, fidelity), messages);
      const auto jittered = latencies(pair, point_with(config, faults, fidelity), messages);
      DmaJitter jitter(kMost, 9, NodeId(1));
      for (std::size_t m = 0; m < messages.size(); m += 2) {
        CHECK(jittered[m] == healthy[m]);
        CHECK(jittered[m + 1] == healthy[m + 1] + jitter.next());
      }
    }
  }
}

// The first message is read late: the second, read early, leaves behind it.
TEST_CASE("Messages leave a port in order, however late memory answers") {
  const Topology pair = make_mesh({2}, kDefaultLink);
  for (const Fidelity fidelity : kFidelities) {
    const SystemConfig config = in_mode(FlowControlMode::message);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(static_cast<int>(fidelity), seed);
      FaultsConfig faults;
      faults.dma_jitter = DmaJitterConfig{100, seed, {}};
      const auto result =
          latencies(pair, point_with(config, faults, fidelity),
                    {{0, NodeId(0), NodeId(1), 160}, {1, NodeId(0), NodeId(1), 160}});
      DmaJitter jitter(100, seed, NodeId(0));
      const Cycle first = jitter.next();
      const Cycle second = jitter.next();
      const Cycle flits = flits_of(config, 160);
      CHECK(result[0] == flits + 161 + first);
      CHECK(result[1] + 1 == std::max(first + flits, second + 1) + flits + 161);
    }
  }
}

TEST_CASE("Jitter of 0 cycles has no effect, and equal seeds give equal runs") {
  const Topology torus = make_torus({4, 4}, link_of(30));
  const SystemConfig config = in_mode(FlowControlMode::message);
  const auto with_jitter = [&](Cycle most, std::uint64_t seed) {
    FaultsConfig faults;
    faults.dma_jitter = DmaJitterConfig{most, seed, {}};
    const auto outcome =
        run("multitree", torus, 64 * 1024, point_with(config, faults, Fidelity::train));
    CHECK(outcome.failure == "");
    CHECK(outcome.verified);
    return outcome;
  };
  const auto healthy = run("multitree", torus, 64 * 1024, point_with(config, {}, Fidelity::train));
  CHECK(test::reproducible(with_jitter(0, 1)) == test::reproducible(healthy));
  const auto once = with_jitter(40, 1);
  CHECK(test::reproducible(with_jitter(40, 1)) == test::reproducible(once));
  CHECK(test::reproducible(with_jitter(40, 2)) != test::reproducible(once));
  CHECK(once.cycles > healthy.cycles);
}

}  // namespace
}  // namespace espalier
