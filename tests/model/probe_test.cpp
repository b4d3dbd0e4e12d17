// Round trips measured on the network.
#include <catch2/catch.hpp>

#include "center_systems.h"
#include "sims/system/probe.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::Numbers;
using test::Report;

Numbers probe(const Topology& topology, const RunPoint& point, const ProbeSpec& spec = {}) {
  return test::in_child([&] {
           const ProbeResult result = probe_latency(topology, point, spec, {});
           if (result.nodes != topology.num_nodes()) throw std::runtime_error("other nodes");
           return Report{result.round_trip, ""};
         })
      .numbers;
}

RunPoint on(const SystemConfig& system, Fidelity fidelity = Fidelity::automatic) {
  RunPoint point;
  point.system = system;
  point.simulation.fidelity = fidelity;
  return point;
}

// docs/timing.md: F + d + i + 2P + L + e + v - 1 for one hop, and L + P for each further one; flits
// of a message are a cycle apart at the full rate.
Cycle one_way(const SystemConfig& c, const std::vector<Cycle>& links, Bytes bytes) {
  Cycle cycles = test::flits_of(c, bytes) + c.ni.dma_latency_cycles + c.ni.injection_cycles +
                 c.router.pipeline_cycles + c.ni.ejection_cycles + c.ni.delivery_cycles - 1;
  for (const Cycle link : links) cycles += link + c.router.pipeline_cycles;
  return cycles;
}

TEST_CASE("The round trip of two nodes is twice the closed form and the echo's cycle") {
  for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
    const SystemConfig system = test::in_mode(mode);
    for (const Cycle latency : {1U, 7U, 150U}) {
      for (const Bytes payload : {Bytes{4}, Bytes{16}, Bytes{1000}}) {
        const Topology line = make_mesh({2}, test::link_of(latency));
        ProbeSpec spec;
        spec.payload = payload;
        const Cycle expected = 2 * one_way(system, {latency}, payload) + 1;
        CAPTURE(latency, payload);
        for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
          CHECK(probe(line, on(system, fidelity), spec) == Numbers{0, expected, expected, 0});
        }
      }
    }
  }
}

TEST_CASE("Further racks are further away by the links between") {
  const SystemConfig system = test::in_mode(FlowControlMode::packet);
  enum Placement : std::uint64_t { packed, spread, random };
  const auto center = [&](Placement placement) {
    return make_data_center({2, 2, 4, 2, 2, 1, 2, 1, 2, 1, placement},
                            {test::link_of(5), test::link_of(20), test::link_of(80)});
  };
  const auto round_trip = [&](Placement placement, const std::vector<Cycle>& links) {
    const Cycle expected = 2 * one_way(system, links, 4) + 1;
    CHECK(probe(center(placement), on(system)) == Numbers{0, expected, expected, 0});
  };
  round_trip(packed, {5, 5});
  round_trip(spread, {5, 20, 20, 5});
  round_trip(random, {5, 20, 80, 80, 20, 5});
}

TEST_CASE("All pairs are probed in both directions, of any number of nodes") {
  for (const std::size_t nodes : {3U, 5U, 8U}) {
    const SystemConfig system = test::in_mode(FlowControlMode::packet);
    const Topology topology =
        make_fully_connected(static_cast<std::uint32_t>(nodes), test::link_of(10));
    const Cycle expected = 2 * one_way(system, {10}, 4) + 1;
    const Numbers found = probe(topology, on(system));
    REQUIRE(found.size() == nodes * nodes);
    for (std::size_t a = 0; a < nodes; ++a) {
      for (std::size_t b = 0; b < nodes; ++b)
        CHECK(found[a * nodes + b] == (a == b ? 0 : expected));
    }
  }
}

TEST_CASE("Probes on any network take the same cycles in both fidelities, tenants or not") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Topology topology = test::small_center(5 + seed % 4, seed);
    RunPoint point = on(test::some_system(seed), Fidelity::train);
    if (seed % 4 != 0) point.tenants = test::some_tenants(seed);
    ProbeSpec spec;
    spec.probes = static_cast<std::uint32_t>(1 + seed % 5);
    spec.percentile = 50;
    CAPTURE(seed);
    const Numbers train = probe(topology, point, spec);
    point.simulation.fidelity = Fidelity::cycle;
    CHECK(probe(topology, point, spec) == train);
  }
  for (const Topology& topology :
       {make_torus({3, 3}, test::link_of(7)), make_dragonfly(1, 2, 3, test::link_of(7)),
        make_gpu_cluster({2, 2, 1, 1}, test::link_of(3), test::link_of(9))}) {
    const RunPoint point = on(test::in_mode(FlowControlMode::message), Fidelity::train);
    RunPoint other = point;
    other.simulation.fidelity = Fidelity::cycle;
    CHECK(probe(topology, point) == probe(topology, other));
  }
}

TEST_CASE("A low percentile filters what other tenants do to probes") {
  const Topology topology = test::small_center(6, 2);
  const SystemConfig system = test::in_mode(FlowControlMode::packet);
  RunPoint busy = on(system);
  busy.tenants.emplace();
  busy.tenants->message_bytes = 4096;
  busy.tenants->bytes_per_second = test::kFlitPerCycle / 4;
  busy.tenants->on_time_ps = 20'000'000;
  busy.tenants->off_time_ps = 20'000'000;
  ProbeSpec spec;
  spec.probes = 40;
  const auto total = [&](const RunPoint& point, std::uint32_t percentile) {
    spec.percentile = percentile;
    std::uint64_t sum = 0;
    for (const std::uint64_t cycles : probe(topology, point, spec)) sum += cycles;
    return sum;
  };
  const std::uint64_t idle = total(on(system), 10);
  const std::uint64_t low = total(busy, 10);
  const std::uint64_t high = total(busy, 90);
  CHECK(low >= idle);
  CHECK(high > low);
}

TEST_CASE("Probing with 0 probes, 0 bytes or a percentile outside 1 to 100 is refused") {
  const Topology line = make_mesh({2}, test::link_of(7));
  const RunPoint point = on({});
  CHECK_THROWS(probe(line, point, {0, 4, 10}));
  CHECK_THROWS(probe(line, point, {1, 0, 10}));
  CHECK_THROWS(probe(line, point, {1, 4, 0}));
  CHECK_THROWS(probe(line, point, {1, 4, 101}));
}

}  // namespace
}  // namespace espalier
