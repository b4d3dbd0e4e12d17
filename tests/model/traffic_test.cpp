// Random point-to-point traffic: nothing deadlocks, nothing gets lost, every hop is counted.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/generate_traffic.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;

TrafficConfig uniform(double rate, Bytes message_bytes, std::uint64_t seed, Cycle duration = 1500) {
  TrafficConfig traffic;
  traffic.injection_rate = rate;
  traffic.message_bytes = message_bytes;
  traffic.warmup_cycles = 0;
  traffic.measure_cycles = duration;
  traffic.drain_cycles = 0;
  traffic.seed = seed;
  return traffic;
}

void check_traffic(const Topology& topology, const TrafficConfig& traffic,
                   const SystemConfig& config) {
  const std::uint64_t flits = test::flits_of(config, traffic.message_bytes);
  RouteSet routes(topology);
  const auto messages = generate_traffic(topology, traffic, flits, routes);
  std::uint64_t flit_hops = 0;
  for (const Operation& message : messages) flit_hops += flits * (routes.hops(message.route) + 1);
  SimulationConfig simulation;
  simulation.monitors = true;
  simulation.watchdog_cycles = 20'000;
  const auto outcome = test::run_traffic(topology, traffic, config, simulation);
  CAPTURE(topology.name(), traffic.injection_rate, traffic.message_bytes, traffic.seed,
          config.router.vcs, config.router.vc_depth_flits,
          static_cast<int>(config.flow_control.mode));
  CHECK(messages.size() > 5);
  CHECK(outcome.failure == "");
  CHECK(outcome.complete);
  CHECK(outcome.latency.messages == messages.size());
  CHECK(outcome.flits_injected == messages.size() * flits);
  CHECK(outcome.flit_hops == flit_hops);
}

TEST_CASE("Datelines keep a torus of two VCs free of deadlock at any load") {
  std::uint64_t seed = 0;
  for (const std::vector<std::uint32_t>& dims :
       {std::vector<std::uint32_t>{5}, {8}, {4, 4}, {5, 3}, {3, 3, 3}}) {
    for (const double rate : {0.05, 0.5, 1.0}) {
      for (const std::uint32_t vcs : {2U, 4U}) {
        SystemConfig config =
            in_mode(++seed % 2 == 0 ? FlowControlMode::message : FlowControlMode::packet);
        config.router.vcs = vcs;
        config.router.vc_depth_flits = 17;
        const Cycle duration = dims.size() == 3 ? 300 : 800;
        check_traffic(make_torus(dims, link_of(4)), uniform(rate, 200, seed, duration), config);
      }
    }
  }
}

TEST_CASE("Dimension order keeps a mesh of one VC free of deadlock at any load") {
  std::uint64_t seed = 100;
  for (const std::vector<std::uint32_t>& dims :
       {std::vector<std::uint32_t>{6}, {4, 4}, {2, 5}, {2, 3, 3}}) {
    for (const double rate : {0.05, 0.5, 1.0}) {
      for (const std::uint32_t vcs : {1U, 2U, 4U}) {
        SystemConfig config =
            in_mode(++seed % 2 == 0 ? FlowControlMode::message : FlowControlMode::packet);
        config.router.vcs = vcs;
        config.router.vc_depth_flits = 17;
        check_traffic(make_mesh(dims, link_of(4)), uniform(rate, 200, seed, 500), config);
      }
    }
  }
}

TEST_CASE("Fixed routes keep switched networks of the fewest VCs free of deadlock at any load") {
  std::uint64_t seed = 150;
  for (const Topology& topology :
       {make_switch_pair(4, link_of(4)), make_fat_tree(3, 4, 2, link_of(4)),
        make_bigraph(2, 6, link_of(4)), make_dragonfly(2, 2, 3, link_of(4)),
        make_dragonfly(1, 3, 5, link_of(4))}) {
    for (const double rate : {0.05, 0.5, 1.0}) {
      for (const std::uint32_t more_vcs : {0U, 1U, 2U}) {
        SystemConfig config =
            in_mode(++seed % 2 == 0 ? FlowControlMode::message : FlowControlMode::packet);
        config.router.vcs = least_vc_classes(topology) + more_vcs;
        config.router.vc_depth_flits = 17;
        check_traffic(topology, uniform(rate, 200, seed, 500), config);
      }
    }
  }
}

TEST_CASE("Traffic arrives through every kind of switch") {
  std::uint64_t seed = 200;
  struct Kind {
    SwitchHold hold;
    Switching switching;
  };
  for (const Kind& kind :
       {Kind{SwitchHold::packet, Switching::vct}, Kind{SwitchHold::flit, Switching::vct},
        Kind{SwitchHold::flit, Switching::wormhole}}) {
    for (const CrossbarInputs inputs : {CrossbarInputs::port, CrossbarInputs::vc}) {
      for (const std::uint32_t depth : {17U, 18U, 40U}) {
        for (const double rate : {0.2, 0.8}) {
          ++seed;
          SystemConfig config =
              in_mode(seed % 2 == 0 ? FlowControlMode::message : FlowControlMode::packet);
          config.router.vcs = 2 + static_cast<std::uint32_t>(seed % 3);
          config.router.hold = kind.hold;
          config.router.crossbar_inputs = inputs;
          config.router.switching = kind.switching;
          config.router.vc_depth_flits = depth;
          check_traffic(make_torus({4, 4}, link_of(5)), uniform(rate, 700, seed, 500), config);
        }
      }
    }
  }
}

TEST_CASE(
    "Wormhole buffers of a few flits do not deadlock a torus whose switch goes flit by flit") {
  for (const std::uint32_t depth : {1U, 2U, 5U, 17U}) {
    for (const CrossbarInputs inputs : {CrossbarInputs::port, CrossbarInputs::vc}) {
      SystemConfig config = in_mode(FlowControlMode::packet);
      config.router.switching = Switching::wormhole;
      config.router.hold = SwitchHold::flit;
      config.router.crossbar_inputs = inputs;
      config.router.vcs = 2;
      config.router.vc_depth_flits = depth;
      check_traffic(make_torus({4, 4}, link_of(2)), uniform(1.0, 256, 300 + depth, 400), config);
    }
  }
}

// A blocked packet that holds the switch also blocks the VC class that should get past it, so
// datelines no longer help. The configuration reader refuses this; without it the watchdog ends it.
TEST_CASE(
    "Wormhole packets that hold the crossbar deadlock on a torus, and the watchdog reports it") {
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.router.switching = Switching::wormhole;
  config.router.vcs = 2;
  config.router.vc_depth_flits = 2;
  RunPoint point;
  point.system = config;
  point.traffic = uniform(1.0, 256, 302, 400);
  point.simulation.watchdog_cycles = 5000;
  const auto outcome = simulate_traffic(make_torus({4, 4}, link_of(2)), point, {});
  CHECK_FALSE(outcome.complete);
  CHECK_FALSE(outcome.verified);
  CHECK_THAT(outcome.failure, Catch::Matchers::Contains("these modules wait for each other"));
}

TEST_CASE("Wormhole buffers of a few flits do not deadlock a mesh") {
  for (const SwitchHold hold : {SwitchHold::packet, SwitchHold::flit}) {
    for (const std::uint32_t depth : {1U, 3U, 17U}) {
      SystemConfig config = in_mode(FlowControlMode::packet);
      config.router.switching = Switching::wormhole;
      config.router.hold = hold;
      config.router.vcs = 1;
      config.router.vc_depth_flits = depth;
      check_traffic(make_mesh({4, 4}, link_of(2)), uniform(1.0, 256, 350 + depth, 400), config);
    }
  }
}

TEST_CASE("Traffic between ring neighbours waits for its own queue only") {
  // Node n sends to n + 1 only: every link has one sender, whose messages of 17 flits queue up.
  const Topology torus = make_torus({8}, test::kDefaultLink);
  TrafficConfig traffic = uniform(0.1, 256, 5, 20'000);
  traffic.pattern = TrafficPattern::neighbor;
  RouteSet routes(torus);
  std::vector<Cycle> free(8, 0);
  Cycle longest = 0;
  Cycle sum = 0;
  const auto messages = generate_traffic(torus, traffic, 17, routes);
  for (const Operation& message : messages) {
    Cycle& next = free[message.from.index()];
    next = std::max(next, message.ready) + 17;
    longest = std::max(longest, next + 161 - message.ready);
    sum += next + 161 - message.ready;
  }
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.router.vc_depth_flits = 400;
  config.ni.send_queue = 1000;
  const auto outcome = test::run_traffic(torus, traffic, config);
  CHECK(outcome.complete);
  CHECK(outcome.latency.messages == messages.size());
  CHECK(outcome.latency.max_cycles == longest);
  CHECK(outcome.latency.mean_cycles ==
        Approx(static_cast<double>(sum) / static_cast<double>(messages.size())));
}

TEST_CASE("Latency grows with load") {
  const Topology mesh = make_mesh({4, 4}, link_of(10));
  const SystemConfig config = in_mode(FlowControlMode::packet);
  double before = 0;
  for (const double rate : {0.01, 0.2, 0.9}) {
    const auto outcome = test::run_traffic(mesh, uniform(rate, 256, 9, 3000), config);
    CHECK(outcome.complete);
    CHECK(outcome.latency.mean_cycles > before);
    before = outcome.latency.mean_cycles;
  }
}

TEST_CASE("Generated traffic has the asked rate and own streams per node") {
  const Topology torus = make_torus({4, 4}, link_of(10));
  RouteSet routes(torus);
  const auto messages = generate_traffic(torus, uniform(0.17, 256, 3, 50'000), 17, routes);
  // 16 nodes x 50000 cycles x 0.01 messages: 8000, standard deviation 89.
  CHECK(messages.size() > 8000 - 450);
  CHECK(messages.size() < 8000 + 450);
  std::vector<std::size_t> to(16, 0);
  Cycle last = 0;
  NodeId node(0);
  for (const Operation& message : messages) {
    CHECK(message.from != message.to);
    ++to[message.to.index()];
    if (message.from != node) last = 0;
    CHECK(message.ready >= last);
    last = message.ready;
    node = message.from;
  }
  for (const std::size_t count : to) {
    CHECK(count > 500 - 110);
    CHECK(count < 500 + 110);
  }
  // A larger network leaves the first nodes' cycles as they were.
  const Topology larger = make_torus({4, 5}, link_of(10));
  RouteSet larger_routes(larger);
  const auto more = generate_traffic(larger, uniform(0.17, 256, 3, 50'000), 17, larger_routes);
  for (std::size_t i = 0; i < 100; ++i) CHECK(more[i].ready == messages[i].ready);
}

TEST_CASE("Each traffic pattern sends to the destinations that it is named after") {
  const Topology torus = make_torus({4, 4}, link_of(10));
  struct Row {
    TrafficPattern pattern;
    std::size_t (*to)(std::size_t);
  };
  for (const Row& row :
       {Row{TrafficPattern::neighbor, [](std::size_t n) { return (n + 1) % 16; }},
        Row{TrafficPattern::bit_complement, [](std::size_t n) { return 15 - n; }},
        Row{TrafficPattern::transpose, [](std::size_t n) { return n % 4 * 4 + n / 4; }},
        Row{TrafficPattern::bit_reverse,
            [](std::size_t n) { return n % 2 * 8 + n / 2 % 2 * 4 + n / 4 % 2 * 2 + n / 8; }},
        Row{TrafficPattern::shuffle, [](std::size_t n) { return n * 2 % 16 + n / 8; }},
        // One hop in X and in Y: (4 + 1) / 2 - 1.
        Row{TrafficPattern::tornado,
            [](std::size_t n) { return (n % 4 + 1) % 4 + (n / 4 + 1) % 4 * 4; }}}) {
    TrafficConfig traffic = uniform(0.5, 256, 1);
    traffic.pattern = row.pattern;
    RouteSet routes(torus);
    std::size_t wrong = 0;
    std::vector<std::size_t> sent(16, 0);
    for (const Operation& message : generate_traffic(torus, traffic, 17, routes)) {
      ++sent[message.from.index()];
      if (message.to.index() != row.to(message.from.index())) ++wrong;
    }
    CHECK(wrong == 0);
    for (std::size_t n = 0; n < 16; ++n) CHECK((sent[n] == 0) == (row.to(n) == n));
  }
}

TEST_CASE("Listed messages are posted as listed, on the routes of normal packets") {
  const Topology mesh = make_mesh({3, 2}, link_of(4));
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  traffic.messages = {{40, NodeId(0), NodeId(5), 77},
                      {2, NodeId(5), NodeId(0), 4096},
                      {2, NodeId(5), NodeId(0), 1},
                      {0, NodeId(4), NodeId(1), 300}};
  RouteSet routes(mesh);
  const auto operations = generate_traffic(mesh, traffic, 1, routes);
  REQUIRE(operations.size() == traffic.messages.size());
  for (std::size_t m = 0; m < operations.size(); ++m) {
    CAPTURE(m);
    const TrafficMessage& listed = traffic.messages[m];
    CHECK(operations[m].ready == listed.ready);
    CHECK(operations[m].from == listed.from);
    CHECK(operations[m].to == listed.to);
    CHECK(operations[m].bytes == listed.bytes);
    CHECK(operations[m].on_arrival == TransferKind::copy);
    CHECK(routes.hops(operations[m].route) == route_packet(mesh, listed.from, listed.to).size());
  }
  CHECK(operations[1].route == operations[2].route);
}

TEST_CASE("Listed messages arrive in the same cycles as messages posted by the test") {
  const Topology mesh = make_mesh({3, 2}, link_of(4));
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.ni.ports = 2;
  config.router.vc_depth_flits = 17;
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  std::vector<test::Post> posts;
  for (std::size_t from = 1; from < 6; ++from) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Cycle ready = 10 * k + from;
      const Bytes bytes = 100 + 333 * k;
      traffic.messages.push_back({ready, NodeId(from), NodeId(0), bytes});
      test::Post post;
      post.from = from;
      post.to = 0;
      post.bytes = bytes;
      post.ready = ready;
      posts.push_back(post);
    }
  }
  const auto by_hand = test::post_messages(mesh, config, posts);
  CHECK(by_hand.violation.empty());
  Cycle max_latency = 0;
  for (std::size_t p = 0; p < posts.size(); ++p) {
    max_latency = std::max(max_latency, by_hand.delivered[p] - posts[p].ready);
  }
  const auto listed = test::run_traffic(mesh, traffic, config);
  CHECK(listed.failure == "");
  CHECK(listed.complete);
  CHECK(listed.latency.messages == posts.size());
  CHECK(listed.latency.max_cycles == max_latency);
  CHECK(listed.flit_hops == by_hand.flit_hops);
}

// The reader refuses a torus of one VC; without it messages around the ring block each other.
TEST_CASE("Both fidelities stop in the same deadlock") {
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.router.vcs = 1;
  config.router.vc_depth_flits = 17;
  SimulationConfig simulation;
  simulation.watchdog_cycles = 5000;
  simulation.fidelity = Fidelity::cycle;
  const Topology ring = make_torus({6}, link_of(3));
  // Half way round, all in the same direction.
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  for (std::size_t n = 0; n < 6; ++n) {
    for (Cycle m = 0; m < 20; ++m) {
      const Bytes bytes = m == 0 ? 100 : 700 + 10 * n;
      traffic.messages.push_back({300 * m + 7 * n, NodeId(n), NodeId((n + 3) % 6), bytes});
    }
  }
  const auto cycle = test::run_traffic(ring, traffic, config, simulation);
  simulation.fidelity = Fidelity::train;
  const auto train = test::run_traffic(ring, traffic, config, simulation);
  for (const auto& outcome : {cycle, train}) {
    CHECK_FALSE(outcome.complete);
    CHECK_FALSE(outcome.verified);
    CHECK_THAT(outcome.failure, Catch::Matchers::Contains("these modules wait for each other"));
  }
  CHECK(cycle.latency.messages > 0);
  CHECK(test::reproducible(train) == test::reproducible(cycle));
}

TEST_CASE("A run that would outlast the kernel's 64-bit time ends with an error") {
  const Topology pair = make_mesh({2}, {1'000'000'000'000, 16'000});  // 1 s, a flit per cycle
  SystemConfig config;
  config.clock.hertz = 1000;
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  traffic.messages = {{Cycle{1} << 45, NodeId(0), NodeId(1), 100}};
  for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
    SimulationConfig simulation;
    simulation.fidelity = fidelity;
    simulation.watchdog_cycles = Cycle{1} << 40;
    const auto outcome = test::run_traffic(pair, traffic, config, simulation);
    CHECK_FALSE(outcome.complete);
    CHECK(outcome.failure.find("simulated time ends at cycle") != std::string::npos);
  }
}

TEST_CASE("The kernel's whole time range can be used") {
  const Topology pair = make_mesh({2}, {1'000'000'000'000, 16'000});  // 1 s, a flit per cycle
  SystemConfig config;
  config.clock.hertz = 1000;
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  traffic.messages = {{18'000'000, NodeId(0), NodeId(1), 100}};  // of 18.4 million cycles
  SimulationConfig simulation;
  simulation.watchdog_cycles = Cycle{1} << 40;
  for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
    simulation.fidelity = fidelity;
    CHECK(test::run_traffic(pair, traffic, config, simulation).verified);
  }
}

TEST_CASE("The simulator also refuses settings that trains cannot simulate exactly") {
  const Topology pair = make_mesh({2}, test::kDefaultLink);
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  traffic.messages = {{0, NodeId(0), NodeId(1), 100}};
  SystemConfig config;
  config.router.hold = SwitchHold::flit;
  SimulationConfig simulation;
  simulation.fidelity = Fidelity::train;
  CHECK_THROWS_WITH(test::run_traffic(pair, traffic, config, simulation),
                    Catch::Contains("system.router.hold: flit"));
}

}  // namespace
}  // namespace espalier
