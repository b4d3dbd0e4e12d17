// Which VCs control messages get, and that their routes cannot block each other in a circle.
#include <catch2/catch.hpp>

#include "alg/certify/channel_dependencies.h"
#include "alg/routes/routing.h"
#include "sims/point/config.h"
#include "sims/system/control_traffic.h"
#include "sims/system/vc_partition.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

TEST_CASE("The last VC of each class is set aside, the others are the gradients'") {
  const VcPartition torus{4, 2, true};
  CHECK(torus.of_class(0) == 0b0011);
  CHECK(torus.of_class(1) == 0b1100);
  CHECK(torus.of_control() == 0b1010);
  CHECK(torus.of_gradients() == 0b0101);
  const VcPartition mesh{4, 1, true};
  CHECK(mesh.of_control() == 0b1000);
  CHECK(mesh.of_gradients() == 0b0111);
}

TEST_CASE("With two VCs per class or more, every class has VCs for both, which share nothing") {
  for (std::uint32_t classes = 1; classes <= 2; ++classes) {
    for (std::uint32_t vcs = 2 * classes; vcs <= 32; ++vcs) {
      const VcPartition partition{vcs, classes, true};
      CHECK((partition.of_control() & partition.of_gradients()) == 0);
      CHECK((partition.of_control() | partition.of_gradients()) == all_vcs(vcs));
      for (std::uint32_t c = 0; c < classes; ++c) {
        CHECK(__builtin_popcount(partition.of_class(c) & partition.of_control()) == 1);
        CHECK((partition.of_class(c) & partition.of_gradients()) != 0);
      }
    }
  }
}

TEST_CASE("Where nothing is set aside, gradients and control messages use all VCs") {
  const VcPartition partition{4, 2, false};
  CHECK(partition.set_aside() == 0);
  CHECK(partition.of_control() == 0b1111);
  CHECK(partition.of_gradients() == 0b1111);
}

std::string cycle_among_all(const Topology& topology, std::uint32_t classes) {
  ChannelDependencies dependencies(topology, classes);
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    RouteSet routes(topology);
    for (const NodeId to : control_destinations(topology, ControlPattern::uniform, NodeId(n))) {
      const RouteId route = routes.add(topology, route_packet(topology, NodeId(n), to));
      dependencies.add(routes, route);
    }
  }
  return dependencies.cycle();
}

TEST_CASE(
    "Control routes between all pairs form no cycle of channels with a VC per dateline "
    "class, and one without") {
  for (const auto& dims : std::vector<std::vector<std::uint32_t>>{{8, 8}, {4, 4}, {5, 3}, {6}}) {
    const Topology torus = make_torus(dims, test::kPlainLink);
    CHECK(cycle_among_all(torus, vc_classes(torus)) == "");
    const std::string cycle = cycle_among_all(torus, 1);
    CHECK_THAT(cycle, Catch::Matchers::Contains("virtual channels wait for each other"));
    CHECK_THAT(cycle, Catch::Matchers::Contains("(back to the first line)"));
  }
  const Topology mesh = make_mesh({5, 4}, test::kPlainLink);
  CHECK(cycle_among_all(mesh, 1) == "");
}

TEST_CASE("Destinations are all other nodes, or the next one round") {
  const Topology ring = make_torus({5}, test::kPlainLink);
  CHECK(control_destinations(ring, ControlPattern::uniform, NodeId(3)) ==
        std::vector<NodeId>{NodeId(4), NodeId(0), NodeId(1), NodeId(2)});
  CHECK(control_destinations(ring, ControlPattern::neighbor, NodeId(4)) ==
        std::vector<NodeId>{NodeId(0)});
}

struct Posted {
  Cycle ready;
  NodeId to;
};

std::vector<Posted> all_of(ControlTraffic& traffic, NodeId node) {
  std::vector<Posted> posted;
  MessageSource& source = traffic.source(node);
  while (source.next_ready() != kNever) {
    const Operation& operation = source.front();
    CHECK(operation.traffic == TrafficClass::control);
    CHECK(operation.from == node);
    CHECK(operation.ready == source.next_ready());
    posted.push_back({operation.ready, operation.to});
    source.pop();
  }
  return posted;
}

TEST_CASE("What is posted until a cycle does not depend on when that is known") {
  const Topology torus = make_torus({4, 4}, test::kPlainLink);
  ControlConfig config;
  config.injection_rate = 0.1;
  const BindControlRoute nowhere = [](const RouteSet&, RouteId) { return RouteId(0); };
  ControlTraffic early(torus, config, 2, nowhere);
  early.close(5000);
  ControlTraffic late(torus, config, 2, nowhere);
  std::uint64_t posted = 0;
  std::vector<std::size_t> before;
  for (std::size_t n = 0; n < 16; ++n) {
    before.push_back(0);
    MessageSource& source = late.source(NodeId(n));
    for (; source.next_ready() <= 2000 + 10 * n; ++before.back()) source.pop();
  }
  late.close(5000);
  CHECK(late.expected() == early.expected());
  for (std::size_t n = 0; n < 16; ++n) {
    const auto all = all_of(early, NodeId(n));
    const auto rest = all_of(late, NodeId(n));
    REQUIRE(before[n] + rest.size() == all.size());
    for (std::size_t m = 0; m < rest.size(); ++m) {
      CHECK(rest[m].ready == all[before[n] + m].ready);
      CHECK(rest[m].to == all[before[n] + m].to);
    }
    for (const Posted& p : all) {
      CHECK(p.ready <= 5000);
      CHECK(p.to != NodeId(n));
    }
    posted += all.size();
  }
  CHECK(posted == early.expected());
  CHECK(static_cast<double>(posted) == Approx(16 * 5001 * 0.05).epsilon(0.1));
}

TEST_CASE("Mean, maximum and the 99th percentile by nearest rank are of all latencies") {
  const Topology pair = make_mesh({2}, test::kPlainLink);
  const ControlConfig config;
  ControlTraffic traffic(pair, config, 2, {});
  CHECK(traffic.statistics().messages == 0);
  for (Cycle latency = 200; latency >= 1; --latency) traffic.delivered(latency);
  const ControlStatistics statistics = traffic.statistics();
  CHECK(statistics.messages == 200);
  CHECK(statistics.mean_cycles == 100.5);
  CHECK(statistics.p99_cycles == 198);
  CHECK(statistics.max_cycles == 200);
}

TEST_CASE("A control message is packets with a head flit each, whatever the gradients are") {
  SystemConfig system;
  ControlConfig control;
  for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
    system.flow_control.mode = mode;
    control.message_bytes = 16;
    CHECK(control_message_flits(system, control) == 2);
    control.message_bytes = 600;
    CHECK(control_message_flits(system, control) == 3 + 38);
  }
}

}  // namespace
}  // namespace espalier
