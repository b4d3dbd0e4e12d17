// What is decided about the deadlock freedom of routes, and what packets on them do.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "alg/certify/route_relation.h"
#include "model_test_support.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using test::pick;

using Routes = std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>>;

// A connected network of 4 to 6 nodes; cables are a random tree and two to four more.
Topology random_network(std::mt19937& random) {
  const std::size_t nodes = 4 + pick(random, 3);
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t n = 1; n < nodes; ++n) pairs.insert({pick(random, n), n});
  for (std::size_t more = 2 + pick(random, 3); more != 0; --more) {
    const std::size_t a = pick(random, nodes);
    const std::size_t b = pick(random, nodes);
    if (a != b) pairs.insert(std::minmax(a, b));
  }
  return test::cables(nodes, {pairs.begin(), pairs.end()});
}

// For a share of all pairs a walk of up to five links that meets no node twice.
Routes random_routes(const Topology& topology, std::mt19937& random) {
  Routes routes;
  const std::size_t nodes = topology.num_nodes();
  const std::size_t most = nodes * (nodes - 1) / (1 + pick(random, 2));
  for (std::size_t tries = 4 * nodes * nodes; tries != 0; --tries) {
    NodeId at(pick(random, nodes));
    const NodeId from = at;
    std::set<NodeId> met{from};
    std::vector<LinkId> path;
    for (std::size_t length = 1 + pick(random, 5); length != 0; --length) {
      const auto& out = topology.out_links(at);
      const LinkId link = out[pick(random, out.size())];
      at = topology.link(link).to;
      if (!met.insert(at).second) break;
      path.push_back(link);
    }
    if (!path.empty()) routes.emplace(std::pair{from, topology.link(path.back()).to}, path);
    if (routes.size() == most) break;
  }
  return routes;
}

Topology with_routes(Topology topology, const Routes& routes) {
  NetworkShape shape = topology.shape();
  shape.route = [routes](const Topology&, NodeId from, NodeId to, std::uint32_t) {
    return routes.at({from, to});
  };
  shape.classes = [](const Topology&, const std::vector<LinkId>& path) {
    return std::vector<std::uint32_t>(path.size(), 0);
  };
  topology.set_shape(std::move(shape));
  return topology;
}

// Sends up to four messages within 200 cycles on each route that passes two links of `on`; on every
// route if `on` is empty. With `some`, each of these routes sends with probability 1/2. Returns
// whether all messages arrive.
bool arrives(const Topology& topology, const Routes& routes, const std::set<LinkId>& on, bool some,
             std::mt19937& random) {
  TrafficConfig traffic;
  traffic.pattern = TrafficPattern::file;
  for (const auto& [ends, path] : routes) {
    const auto waits = [&](LinkId l) { return on.count(l) != 0; };
    if (!on.empty() && std::count_if(path.begin(), path.end(), waits) < 2) continue;
    if (some && pick(random, 2) == 0) continue;
    for (std::size_t k = pick(random, 4); k < 4; ++k) {
      traffic.messages.push_back(
          {Cycle{pick(random, 200)}, ends.first, ends.second, Bytes{100 + pick(random, 3000)}});
    }
  }
  SystemConfig config = test::in_mode(FlowControlMode::packet);
  config.router.vcs = 1;
  config.router.vc_depth_flits = 17;  // one packet
  SimulationConfig simulation;
  simulation.watchdog_cycles = 5000;
  return test::run_traffic(topology, traffic, config, simulation).complete;
}

TEST_CASE("Packets on random routes deadlock where the decision says that they can, and only there",
          "[slow]") {
  std::size_t free = 0;
  std::size_t cyclic = 0;
  for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Topology bare = random_network(random);
    const Routes routes = random_routes(bare, random);
    RouteRelation relation(bare, 1);
    for (const auto& [ends, path] : routes) {
      std::vector<ChannelNumber> channels;
      for (const LinkId l : path) channels.push_back(l.value());
      relation.add_route(channels);
    }
    const RouteVerdict verdict = relation.decide();
    ++(verdict.cut_through ? free : cyclic);
    const Topology topology = with_routes(bare, routes);
    std::set<LinkId> on;
    if (!verdict.cut_through) {
      for (const ChannelNumber c : verdict.proof) on.insert(LinkId(c));
    }
    bool all_arrive = true;
    for (std::size_t tries = verdict.cut_through ? 2 : 200; tries != 0 && all_arrive; --tries) {
      all_arrive = arrives(topology, routes, on, tries % 2 == 0, random);
    }
    CHECK(all_arrive == verdict.cut_through);
  }
  CHECK(free >= 700);
  CHECK(cyclic >= 200);
}

}  // namespace
}  // namespace espalier
