// Packets through switched networks and fully connected ones.
#include <catch2/catch.hpp>

#include <random>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;
using test::Post;

std::vector<Topology> one_of_each() {
  const LinkSpec link = link_of(4);
  std::vector<Topology> networks;
  networks.push_back(make_fully_connected(5, link));
  networks.push_back(make_single_switch(6, link));
  networks.push_back(make_switch_pair(4, link));
  networks.push_back(make_fat_tree(3, 3, 2, link));
  networks.push_back(make_bigraph(2, 6, link));
  networks.push_back(make_dragonfly(2, 2, 3, link));
  networks.push_back(make_gpu_cluster({2, 4, 2, 2}, link, link_of(9, test::kFlitPerCycle / 4)));
  networks.push_back(make_gpu_cluster({3, 2, 2, 1}, link, link_of(7, test::kFlitPerCycle * 3 / 8)));
  networks.push_back(make_data_center(
      {2, 2, 4, 2, 2, 1, 2, 2, 8, 2},
      {link, link_of(9, test::kFlitPerCycle / 4), link_of(23, test::kFlitPerCycle * 3 / 8)}));
  // Grids with rings and lines, twists, parallel links.
  const std::uint64_t slow = test::kFlitPerCycle * 3 / 8;
  networks.push_back(make_grid({{"dims", {4, 3}},
                                {"wrap", {1, 0}},
                                {"bandwidth", {0, slow}},
                                {"latency", {0, link_of(9).latency_ps}}},
                               link));
  networks.push_back(make_grid(
      {{"dims", {2, 2, 4}}, {"wrap", {1, 1, 1}}, {"twist", {0, 2, 2}}, {"bandwidth", {0, 0, slow}}},
      link));
  networks.push_back(make_grid(
      {{"dims", {2, 5}}, {"wrap", {1, 1}}, {"links", {4, 2}}, {"bandwidth", {slow, 0}}}, link));
  return networks;
}

// More than the network can take for a while, with a node that many send to.
std::vector<Post> busy_messages(const Topology& topology, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t count) { return std::size_t{random() % count}; };
  std::vector<Post> posts;
  for (std::size_t from = 0; from < topology.num_nodes(); ++from) {
    Cycle ready = 0;
    for (int m = 0; m < 12; ++m) {
      const std::size_t other = (from + 1 + pick(topology.num_nodes() - 1)) % topology.num_nodes();
      const std::size_t to = from != 0 && pick(3) == 0 ? 0 : other;
      ready += pick(30);
      posts.push_back({from, to, 1 + pick(1200), ready});
    }
  }
  return posts;
}

TEST_CASE(
    "Through every kind of switch network messages arrive in the same cycle in both fidelities") {
  std::uint32_t seed = 0;
  for (const Topology& topology : one_of_each()) {
    for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
      for (const std::uint32_t depth : {17U, 40U}) {
        SystemConfig config = in_mode(mode);
        config.router.vc_depth_flits = depth;
        config.router.vcs = least_vc_classes(topology) + seed % 3;
        CAPTURE(topology.name(), static_cast<int>(mode), depth, config.router.vcs, ++seed);
        const auto posts = busy_messages(topology, seed);
        SimulationConfig simulation;
        simulation.fidelity = Fidelity::cycle;
        const auto cycle = test::post_messages(topology, config, posts, simulation);
        simulation.fidelity = Fidelity::train;
        const auto train = test::post_messages(topology, config, posts, simulation);
        CHECK(cycle.violation == "");
        CHECK(std::count(cycle.delivered.begin(), cycle.delivered.end(), kNever) == 0);
        CHECK(train.delivered == cycle.delivered);
        CHECK(train.issued == cycle.issued);
        CHECK(train.link_flits == cycle.link_flits);
      }
    }
  }
}

TEST_CASE("Each switch on a message's way costs its pipeline and a link") {
  const SystemConfig config = in_mode(FlowControlMode::message);
  const Cycle latency = 7;
  const auto lone = [&](const Topology& topology, std::size_t to) {
    return test::lone_message(topology, config, {0, to, 512});
  };
  const Cycle direct = lone(make_fully_connected(4, link_of(latency)), 3);
  const Cycle hop = latency + config.router.pipeline_cycles;
  CHECK(lone(make_single_switch(4, link_of(latency)), 3) == direct + hop);
  CHECK(lone(make_switch_pair(2, link_of(latency)), 3) == direct + 2 * hop);
  CHECK(lone(make_fat_tree(2, 2, 2, link_of(latency)), 3) == direct + 3 * hop);
  const Topology bigraph = make_bigraph(2, 4, link_of(latency));
  CHECK(lone(bigraph, 1) == direct + hop);
  CHECK(lone(bigraph, 2) == direct + 3 * hop);  // the same side
  CHECK(lone(bigraph, 5) == direct + 2 * hop);  // across
  // From switch 0 of group 0 to both of group 1: its global link ends at switch 3.
  const Topology dragonfly = make_dragonfly(1, 2, 3, link_of(latency));
  CHECK(lone(dragonfly, 3) == direct + 2 * hop);
  CHECK(lone(dragonfly, 2) == direct + 3 * hop);
}

// The dragonfly in which first and last local links close a circle (alg/routes/routing.cpp).
// Each node beside a group's gateway sends to the node beside the next group's.
TrafficConfig round_the_groups() {
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  for (std::size_t group = 0; group < 3; ++group) {
    const std::size_t from = 2 * group;
    const std::size_t to = 2 * ((group + 2) % 3) + 1;
    for (Cycle m = 0; m < 40; ++m) {
      traffic.messages.push_back({m, NodeId(from), NodeId(to), 700 + 10 * group});
    }
  }
  return traffic;
}

TEST_CASE("Without a second VC packets of a dragonfly deadlock") {
  const Topology topology = make_dragonfly(1, 2, 3, link_of(3));
  for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
    for (const std::uint32_t vcs : {1U, 2U, 3U, 4U}) {
      SystemConfig config = in_mode(FlowControlMode::packet);
      config.router.vcs = vcs;
      config.router.vc_depth_flits = 17;
      SimulationConfig simulation;
      simulation.watchdog_cycles = 5000;
      simulation.fidelity = fidelity;
      CAPTURE(vcs, static_cast<int>(fidelity));
      const auto outcome = test::run_traffic(topology, round_the_groups(), config, simulation);
      CHECK(outcome.complete == (vcs > 1));
      if (vcs == 1) {
        CHECK_THAT(outcome.failure, Catch::Matchers::Contains("these modules wait for each other"));
      }
    }
  }
}

}  // namespace
}  // namespace espalier
