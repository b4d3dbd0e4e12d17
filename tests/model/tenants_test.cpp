// Other tenants' traffic beside a collective: the same in both fidelities, and nobody waits for it.
#include <catch2/catch.hpp>

#include "center_systems.h"
#include "sims/choose/certify_point.h"
#include "sims/system/tenant_traffic.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::Numbers;
using test::Report;

RunPoint a_point(std::uint64_t seed) {
  RunPoint point;
  point.system = test::some_system(seed);
  point.collective.emplace();
  point.tenants = test::some_tenants(seed);
  return point;
}

// Everything that both fidelities must agree on, deliveries of each message included.
Report run(const Topology& topology, const RunPoint& point, const ScheduleTables& tables) {
  return test::in_child([&] {
    std::uint64_t deliveries = 0;
    SimulationHooks hooks;
    hooks.delivered = [&](const Operation& o, Cycle now) {
      // A sum: within a cycle the order is nobody's business.
      deliveries += mix(mix(mix(o.from.value(), o.to.value()), o.ready), now);
    };
    const SimulationOutcome o = simulate_collective(topology, point, tables, hooks);
    const TenantStatistics t = o.tenants.value_or(TenantStatistics{});
    Report report{
        {o.complete ? 1U : 0U, o.verified ? 1U : 0U, o.cycles, o.flit_hops, o.flits_injected,
         o.head_flits, o.latency.messages, o.latency.max_cycles, test::link_conflicts(o.counters),
         t.posted_messages, t.posted_bytes, t.messages, t.bytes,
         static_cast<std::uint64_t>(t.mean_cycles * static_cast<double>(t.messages) + 0.5),
         t.duration, deliveries},
        o.failure};
    for (const HardwareEvents::Router& router : o.events.routers) {
      report.numbers.push_back(router.flits);
      report.numbers.push_back(router.packets);
    }
    for (const std::uint64_t n : {o.events.link_flits[0], o.events.injected_flits[0],
                                  o.events.decisions, o.events.payload_bytes}) {
      report.numbers.push_back(n);
    }
    return report;
  });
}

constexpr std::size_t kVerified = 1;
constexpr std::size_t kCycles = 2;
constexpr std::size_t kMessages = 6;
constexpr std::size_t kPosted = 9;
constexpr std::size_t kArrived = 11;

TEST_CASE("With other tenants a collective takes the same cycles and energy in both fidelities") {
  for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 5 : 24); ++seed) {
    const char* const algorithm = seed % 3 == 0   ? "ring"
                                  : seed % 3 == 1 ? "halving_doubling"
                                                  : "multitree";
    const Topology topology = test::small_center(8, seed);
    const ScheduleTables tables = test::tables_for(algorithm, topology, 8 * 1024 * (1 + seed % 4));
    RunPoint point = a_point(seed);
    point.simulation.fidelity = Fidelity::cycle;
    point.simulation.monitors = true;
    CAPTURE(seed, algorithm, point.tenants->flows, point.tenants->message_bytes);
    const Report cycle = run(topology, point, tables);
    point.simulation.monitors = false;
    point.simulation.fidelity = Fidelity::train;
    const Report train = run(topology, point, tables);
    CHECK(cycle.text == "");
    CHECK(train.text == "");
    CHECK(cycle.numbers[kVerified] == 1);
    CHECK(cycle.numbers == train.numbers);
    CHECK(cycle.numbers[kPosted] >= cycle.numbers[kArrived]);
  }
}

TEST_CASE("Other tenants slow a collective down, and are no part of its messages") {
  const Topology topology = test::small_center(8, 3);
  const ScheduleTables tables = test::tables_for("ring", topology, 64 * 1024);
  RunPoint point;
  point.system = test::in_mode(FlowControlMode::packet);
  point.collective.emplace();
  const Report alone = run(topology, point, tables);
  TenantsConfig busy;
  busy.flows = 16;
  busy.message_bytes = 4096;
  busy.bytes_per_second = test::kFlitPerCycle / 4;
  busy.off_time_ps = 0;
  point.tenants = busy;
  const Report beside = run(topology, point, tables);
  CHECK(alone.numbers[kVerified] == 1);
  CHECK(beside.numbers[kVerified] == 1);
  CHECK(beside.numbers[kCycles] > alone.numbers[kCycles]);
  CHECK(beside.numbers[kMessages] == alone.numbers[kMessages]);
  CHECK(beside.numbers[kArrived] > 0);
}

TEST_CASE("What other tenants post does not depend on the collective") {
  const Topology topology = test::small_center(8, 3);
  RunPoint point = a_point(5);
  const auto posted_per_cycle = [&](const char* algorithm) {
    const Report report = run(topology, point, test::tables_for(algorithm, topology, 64 * 1024));
    TenantTraffic again(topology, *point.tenants, point.system.clock, {});
    const Cycle last = report.numbers[14] - 1;
    CHECK(again.statistics(last).posted_messages == report.numbers[kPosted]);
  };
  posted_per_cycle("ring");
  posted_per_cycle("direct");
}

TEST_CASE("Modules that never sleep see the same tenants") {
  const Topology topology = test::small_center(6, 4);
  const ScheduleTables tables = test::tables_for("ring", topology, 6 * 2048);
  RunPoint point = a_point(7);
  const Report asleep = run(topology, point, tables);
  point.simulation.always_clocked = true;
  const Report awake = run(topology, point, tables);
  CHECK(asleep.numbers == awake.numbers);
}

// Node 1 waits for a message that node 0 never sends.
ScheduleTables stuck(const Topology& topology) {
  ScheduleTables tables(topology);
  const RouteId route = tables.routes.add(topology, route_packet(topology, NodeId(1), NodeId(0)));
  tables.op = CollectiveOp::all_gather;
  tables.size = 64;
  tables.num_steps = 1;
  tables.chunks = {{0, 64, NodeId(0)}};
  TableEntry entry;
  entry.op = TableOp::gather;
  entry.flow = FlowId(0);
  entry.parent.node = NodeId(0);
  entry.children = {{NodeId(0), route}};
  entry.step = 1;
  entry.size = 64;
  tables.nodes.resize(topology.num_nodes());
  tables.nodes[1] = {entry};
  return tables;
}

TEST_CASE("Other tenants do not hide that a collective is stuck") {
  const Topology topology = test::small_center(4, 1);
  RunPoint point;
  point.system = test::in_mode(FlowControlMode::packet);
  point.collective.emplace();
  point.simulation.check = false;
  point.simulation.watchdog_cycles = 20'000;
  TenantsConfig busy;
  busy.message_bytes = 4096;
  busy.off_time_ps = 0;
  point.tenants = busy;
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
    point.simulation.fidelity = fidelity;
    const Report report = run(topology, point, stuck(topology));
    CHECK(report.numbers[0] == 0);
    CHECK_THAT(report.text, Contains("no progress at cycle"));
    CHECK_THAT(report.text, Contains("0 of 1 messages delivered"));
    CHECK(report.numbers[kArrived] > 0);
  }
}

TEST_CASE("A busy network of other tenants is not taken for a stuck collective") {
  const Topology topology = test::small_center(8, 9);
  const ScheduleTables tables = test::tables_for("ring", topology, 64 * 1024);
  RunPoint point;
  point.system = test::in_mode(FlowControlMode::packet);
  point.collective.emplace();
  point.simulation.watchdog_cycles = 1000;
  TenantsConfig busy;
  busy.flows = 40;
  busy.message_bytes = 65536;
  busy.bytes_per_second = test::kFlitPerCycle / 2;
  busy.off_time_ps = 0;
  point.tenants = busy;
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
    point.simulation.fidelity = fidelity;
    const Report report = run(topology, point, tables);
    CHECK(report.text == "");
    CHECK(report.numbers[kVerified] == 1);
  }
}

TEST_CASE("The certifier knows the paths of other tenants") {
  const Topology topology = test::small_center(8, 2);
  RunPoint point = a_point(2);
  const ScheduleTables tables = test::tables_for("multitree", topology, 64 * 1024);
  CHECK(certify_point(topology, point, tables).ok());
}

}  // namespace
}  // namespace espalier
