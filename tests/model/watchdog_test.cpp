// A stuck system is told apart from a slow one, and says who waits for whom.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::kDefaultLink;
using test::link_of;
using test::run_tables;

TableEntry gather_entry(std::size_t flow, NodeId parent, const TablePeer& child, Timestep step,
                        Bytes start) {
  TableEntry entry;
  entry.op = TableOp::gather;
  entry.flow = FlowId(flow);
  entry.parent.node = parent;
  entry.children = {child};
  entry.step = step;
  entry.start_addr = start;
  entry.size = 64;
  return entry;
}

// 0 - 1: each node first wants to pass on what the other would send only after that.
ScheduleTables deadlocked(const Topology& line) {
  const TablePeer to_1{NodeId(1), RouteSet::single(line.link_between(NodeId(0), NodeId(1)))};
  const TablePeer to_0{NodeId(0), RouteSet::single(line.link_between(NodeId(1), NodeId(0)))};
  ScheduleTables tables(line);
  tables.op = CollectiveOp::all_gather;
  tables.size = 256;
  tables.num_steps = 2;
  tables.chunks = {
      {0, 64, NodeId(0)}, {64, 64, NodeId(1)}, {128, 64, NodeId(0)}, {192, 64, NodeId(1)}};
  tables.nodes = {{gather_entry(3, NodeId(1), to_1, 1, 192), gather_entry(0, {}, to_1, 2, 0)},
                  {gather_entry(0, NodeId(0), to_0, 1, 0), gather_entry(3, {}, to_0, 2, 192)}};
  return tables;
}

TEST_CASE("Two NIs that wait for each other end the run with both names and the cycle") {
  const Topology line = make_mesh({2}, kDefaultLink);
  SimulationConfig simulation;
  simulation.check = false;
  for (const LockstepMode mode :
       {LockstepMode::off, LockstepMode::estimate, LockstepMode::drain, LockstepMode::full}) {
    SystemConfig config;
    config.ni.lockstep = mode;
    const auto outcome = run_tables(line, deadlocked(line), config, simulation);
    CHECK_FALSE(outcome.complete);
    CHECK_FALSE(outcome.verified);
    CHECK_THAT(outcome.failure, Contains("no progress at cycle"));
    CHECK_THAT(outcome.failure, Contains("0 of 4 messages delivered"));
    CHECK_THAT(outcome.failure, Contains("these modules wait for each other"));
    CHECK_THAT(outcome.failure, Contains("net.ni_0 waits for net.ni_1"));
    CHECK_THAT(outcome.failure, Contains("net.ni_1 waits for net.ni_0"));
    CHECK_THAT(outcome.failure, Contains("Gather of flow 3 from node 1"));
    CHECK_THAT(outcome.failure, Contains("Gather of flow 0 from node 0"));
  }
}

TEST_CASE("A deadlock is found alike when the clock never sleeps") {
  const Topology line = make_mesh({2}, kDefaultLink);
  SimulationConfig simulation;
  simulation.always_clocked = true;
  simulation.watchdog_cycles = 5000;
  const auto outcome = run_tables(line, deadlocked(line), SystemConfig{}, simulation);
  CHECK_FALSE(outcome.complete);
  CHECK_THAT(outcome.failure, Contains("these modules wait for each other"));
}

TEST_CASE("A packet longer than every buffer ends the run and names the buffer") {
  SystemConfig config = test::in_mode(FlowControlMode::packet);
  config.router.vc_depth_flits = 16;
  config.router.vcs = 1;
  const auto outcome = test::run_collective("ring", make_torus({2, 2}, kDefaultLink), 4096, config);
  CHECK_FALSE(outcome.complete);
  CHECK_THAT(outcome.failure, Contains("no progress at cycle"));
  CHECK_THAT(outcome.failure, Contains("in_ni0.vc0"));
  CHECK_THAT(outcome.failure, Contains("credit"));
}

SimulationConfig impatient(Cycle cycles) {
  SimulationConfig simulation;
  simulation.watchdog_cycles = cycles;
  return simulation;
}

void check_slow(SystemConfig config, const LinkSpec& link, Cycle patience) {
  config.router.vc_depth_flits = 20'000;
  const auto outcome =
      test::run_collective("ring", make_torus({2, 2}, link), 4 * 2048, config, impatient(patience));
  CHECK(outcome.failure == "");
  CHECK(outcome.verified);
}

TEST_CASE("Long links and reductions and deliveries and turnarounds are not taken for a deadlock") {
  SystemConfig config = test::in_mode(FlowControlMode::packet);
  config.ni.reduction = {ReductionMode::after_message, 1, 1, 1};
  config.ni.delivery_cycles = 2000;
  config.ni.turnaround_cycles = 1000;
  check_slow(config, link_of(4000), 100);
}

TEST_CASE("A limited DMA engine is not taken for a deadlock while it reads") {
  SystemConfig config = test::in_mode(FlowControlMode::packet);
  config.ni.dma_bytes_per_cycle = 1;
  check_slow(config, link_of(10), 100);
}

TEST_CASE("A lockstep counter that runs is not taken for a deadlock") {
  SystemConfig config = test::in_mode(FlowControlMode::message);
  config.ni.lockstep = LockstepMode::full;
  check_slow(config, link_of(4000), 100);
}

TEST_CASE("A DMA latency beyond the watchdog's patience is not taken for a deadlock") {
  SystemConfig config = test::in_mode(FlowControlMode::packet);
  config.ni.dma_latency_cycles = 3000;
  check_slow(config, link_of(10), 100);
}

TEST_CASE("A flit time beyond the watchdog's patience is not taken for a deadlock") {
  check_slow(test::in_mode(FlowControlMode::packet), link_of(10, 100'000'000), 100);
}

TEST_CASE("A credit latency beyond the watchdog's patience is not taken for a deadlock") {
  SystemConfig config = test::in_mode(FlowControlMode::packet);
  config.credit_latency_cycles = 3000;
  config.router.vcs = 1;
  config.router.vc_depth_flits = 17;
  const auto outcome = test::run_collective("ring", make_torus({2, 2}, link_of(10)), 4 * 2048,
                                            config, impatient(100));
  CHECK(outcome.failure == "");
  CHECK(outcome.verified);
}

TEST_CASE("Posts far in the future are waited for") {
  SimulationConfig simulation;
  simulation.watchdog_cycles = 50;
  TrafficConfig traffic;
  traffic.injection_rate = 0.0002;
  traffic.message_bytes = 16;
  traffic.warmup_cycles = 0;
  traffic.measure_cycles = 200'000;
  traffic.drain_cycles = 0;
  const auto outcome =
      test::run_traffic(make_mesh({2}, kDefaultLink), traffic, SystemConfig{}, simulation);
  CHECK(outcome.failure == "");
  CHECK(outcome.complete);
  CHECK(outcome.latency.messages > 10);
}

TEST_CASE("Wrong data of a schedule is reported with rank and chunk") {
  // Node 1 never gets chunk 2.
  const Topology line = make_mesh({2}, kDefaultLink);
  ScheduleTables tables = deadlocked(line);
  tables.nodes[0] = {gather_entry(0, {}, tables.nodes[0][1].children[0], 1, 0)};
  tables.nodes[1] = {gather_entry(3, {}, tables.nodes[1][1].children[0], 1, 192)};
  tables.num_steps = 1;
  SimulationConfig simulation;
  simulation.check = false;
  const auto outcome = run_tables(line, tables, SystemConfig{}, simulation);
  CHECK(outcome.complete);
  CHECK_FALSE(outcome.verified);
  CHECK_THAT(outcome.failure, Contains("wrong data at rank 0: chunk 1"));
}

}  // namespace
}  // namespace espalier
