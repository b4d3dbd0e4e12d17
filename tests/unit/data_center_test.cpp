// Data centres: racks, pods and cores, a job's nodes on some of the hosts, and paths by a hash.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/bounds/bounds.h"
#include "alg/certify/certifier.h"
#include "alg/certify/channel_dependencies.h"
#include "alg/generators/generator.h"
#include "alg/generators/rings.h"
#include "alg/program/connection_routes.h"
#include "alg/routes/routing.h"
#include "tests/support/networks.h"

using namespace espalier;

namespace {

constexpr LinkSpec kRack{2'000'000, 1'250'000'000};
constexpr LinkSpec kAggregation{10'000'000, 5'000'000'000};
constexpr LinkSpec kCore{40'000'000, 2'500'000'000};
using Names = std::vector<std::string>;

// 2 pods of 2 racks of 4 hosts. The seed puts nodes 0 to 4 into racks 1, 0, 3, 0, 2.
CenterCounts small_counts() { return {2, 2, 4, 4, 2, 2, 2, 7, 5, 371}; }

Topology center(const CenterCounts& counts) {
  return make_data_center(counts, {kRack, kAggregation, kCore});
}

// By node, where pods have 4 hosts in each rack and nodes are placed as counts.placement says.
std::vector<std::size_t> racks_of(CenterCounts counts) {
  const Topology topology = center(counts);
  std::vector<std::size_t> racks;
  for (std::size_t n = 0; n < counts.nodes; ++n) racks.push_back(switch_of(topology, NodeId(n)));
  return racks;
}

Names behind(const Topology& topology, const std::string& vertex) {
  Names names;
  for (const LinkId link : topology.out_links(topology.find_vertex(vertex))) {
    names.push_back(topology.vertex_name(topology.link(link).to));
  }
  return names;
}

// As a connected walk between these ends, which never goes up once it has gone down.
bool leads_up_then_down(const Topology& topology, const std::vector<LinkId>& route, NodeId from,
                        NodeId to) {
  const auto level = [&](NodeId v) {
    const std::string name = topology.vertex_name(v);
    return name[0] == 'n' ? 0 : name[0] == 't' ? 1 : name[0] == 'a' ? 2 : 3;
  };
  NodeId at = from;
  bool down = false;
  for (const LinkId link : route) {
    const TopologyLink& l = topology.link(link);
    if (l.from != at || (down && level(l.to) > level(l.from))) return false;
    down = level(l.to) < level(l.from);
    at = l.to;
  }
  return at == to;
}

// Of pods x racks x hosts, with as many nodes on random hosts.
CenterCounts random_counts(std::uint32_t nodes, std::uint64_t seed) {
  return {2, 3, 4, 4, 2, 2, 3, seed, nodes, seed};
}

}  // namespace

TEST_CASE("A data centre has a switch for each rack, aggregation switches and cores above them") {
  const Topology topology = center(small_counts());
  CHECK(topology.name() == "data_center 2x2x4");
  CHECK(topology.num_nodes() == 5);
  CHECK(topology.num_switches() == 4 + 4 + 2);
  CHECK(topology.num_links() == 2 * (5 + 16 + 8));
  CHECK_FALSE(topology.find_disconnected().valid());
  CHECK(topology.vertex_name(topology.rack_switch(3)) == "tor_3");
  CHECK(behind(topology, "n_2") == Names{"tor_3"});
  CHECK(behind(topology, "tor_0") ==
        Names{"n_1", "n_3", "agg_0_0", "agg_0_1", "agg_0_0", "agg_0_1"});
  CHECK(behind(topology, "agg_1_1") ==
        Names{"tor_2", "tor_2", "tor_3", "tor_3", "core_0", "core_1"});
  CHECK(behind(topology, "core_0") == Names{"agg_0_0", "agg_0_1", "agg_1_0", "agg_1_1"});
}

TEST_CASE("Each level of a data centre has links of its own") {
  const Topology topology = center(small_counts());
  for (const TopologyLink& link : topology.links()) {
    const std::string ends = topology.vertex_name(link.from) + " " + topology.vertex_name(link.to);
    const LinkSpec& spec = ends.find("core") != std::string::npos  ? kCore
                           : ends.find("agg") != std::string::npos ? kAggregation
                                                                   : kRack;
    CHECK(link.spec == spec);
    CHECK(topology.link_between(link.to, link.from).valid());
  }
}

TEST_CASE("Oversubscription is what hosts could send over what their uplinks carry") {
  const RackShape racks = center(small_counts()).shape().racks;
  CHECK(racks.rack_oversubscription == 4 * 1.25 / (4 * 5));
  CHECK(racks.aggregation_oversubscription == 2. * 4 * 5 / (2 * 2 * 2.5));
  CenterCounts one_pod = small_counts();
  one_pod.pods = 1;
  CHECK(center(one_pod).shape().racks.aggregation_oversubscription == 0);
}

TEST_CASE("A single pod needs no cores") {
  CenterCounts counts = small_counts();
  counts.pods = 1;
  const Topology topology = center(counts);
  CHECK(topology.num_switches() == 2 + 2);
  CHECK_FALSE(topology.find_vertex("core_0").valid());
}

TEST_CASE("Packed nodes fill rack after rack, spread ones take a rack each in turn") {
  CenterCounts counts{1, 3, 4, 1, 1, 1, 1, 1, 5, 1, 0};
  CHECK(racks_of(counts) == std::vector<std::size_t>{0, 0, 0, 0, 1});
  counts.placement = 1;
  CHECK(racks_of(counts) == std::vector<std::size_t>{0, 1, 2, 0, 1});
}

TEST_CASE("Random placement takes hosts of their own, by the seed, and unequally many of a rack") {
  CenterCounts counts{1, 8, 16, 1, 1, 1, 1, 1, 64, 1};
  const auto racks = racks_of(counts);
  CHECK(racks == racks_of(counts));
  std::vector<int> of_rack(8);
  for (const std::size_t rack : racks) ++of_rack.at(rack);
  CHECK(*std::max_element(of_rack.begin(), of_rack.end()) <= 16);
  CHECK(*std::max_element(of_rack.begin(), of_rack.end()) >
        *std::min_element(of_rack.begin(), of_rack.end()));
  CHECK_FALSE(std::is_sorted(racks.begin(), racks.end()));
  counts.placement_seed = 2;
  CHECK(racks != racks_of(counts));
  // All hosts taken is a permutation.
  counts.nodes = 128;
  auto all = racks_of(counts);
  std::sort(all.begin(), all.end());
  for (std::size_t n = 0; n < 128; ++n) CHECK(all[n] == n / 16);
  counts.nodes = 129;
  CHECK_THROWS_AS(center(counts), std::invalid_argument);
}

TEST_CASE("A shape that is not a data centre is refused") {
  const auto check = [](void (*spoil)(CenterCounts&)) {
    CenterCounts counts = small_counts();
    spoil(counts);
    CHECK_THROWS_AS(center(counts), std::invalid_argument);
  };
  check([](CenterCounts& s) { s.pods = 0; });
  check([](CenterCounts& s) { s.cores = 0; });
  check([](CenterCounts& s) { s.rack_uplinks = 3; });
  check([](CenterCounts& s) { s.cores = 5; });
  check([](CenterCounts& s) { s.nodes = 1; });
}

TEST_CASE("Routes go up to the lowest level that both racks share, and down again") {
  const Topology topology = center(small_counts());
  const std::vector<std::pair<std::size_t, std::size_t>> hops{{3, 2}, {0, 4}, {4, 6}, {2, 6}};
  for (const auto& [to, expected] : hops) {
    CHECK(route_packet(topology, NodeId(1), NodeId(to)).size() == expected);
  }
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) {
      if (a == b) continue;
      for (std::uint32_t channel = 0; channel < 8; ++channel) {
        const auto route = connection_route(topology, NodeId(a), NodeId(b), channel);
        CHECK(leads_up_then_down(topology, route, NodeId(a), NodeId(b)));
        if (channel == 0) CHECK(route == route_packet(topology, NodeId(a), NodeId(b)));
      }
    }
  }
}

TEST_CASE("Other tenants' flows go from rack switch to rack switch") {
  const Topology topology = center(small_counts());
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = 0; b < 4; ++b) {
      if (a == b) continue;
      const auto route =
          route_packet(topology, topology.rack_switch(a), topology.rack_switch(b), 3);
      CHECK(route.size() == (a / 2 == b / 2 ? 2 : 4));
      CHECK(leads_up_then_down(topology, route, topology.rack_switch(a), topology.rack_switch(b)));
    }
  }
}

TEST_CASE("A pair of nodes keeps to its path, and pairs spread over all uplinks by the seed") {
  const CenterCounts counts = random_counts(24, 5);
  CenterCounts other = counts;
  other.ecmp_seed = 6;
  const Topology topology = center(counts);
  const Topology reseeded = center(other);
  std::set<LinkId> used;
  std::size_t moved = 0;
  for (std::size_t a = 0; a < 24; ++a) {
    for (std::size_t b = 0; b < 24; ++b) {
      if (a == b) continue;
      const auto route = route_packet(topology, NodeId(a), NodeId(b));
      CHECK(route == route_packet(topology, NodeId(a), NodeId(b)));
      used.insert(route.begin(), route.end());
      if (route != route_packet(reseeded, NodeId(a), NodeId(b))) ++moved;
    }
  }
  CHECK(used.size() == topology.num_links());
  CHECK(moved > 24 * 23 / 2);
}

TEST_CASE("The routes of the job and of other tenants in a data centre form no cycle") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const Topology topology = center(random_counts(20, seed));
    CHECK(vc_classes(topology) == 1);
    CHECK(least_vc_classes(topology) == 1);
    RouteSet routes(topology);
    ChannelDependencies dependencies(topology, 1);
    const auto add = [&](NodeId from, NodeId to) {
      if (from == to) return;
      for (std::uint32_t channel = 0; channel < 3; ++channel) {
        const auto links = route_packet(topology, from, to, channel);
        dependencies.add(routes, routes.add(topology, links));
      }
    };
    for (std::size_t a = 0; a < 20; ++a) {
      for (std::size_t b = 0; b < 20; ++b) add(NodeId(a), NodeId(b));
    }
    for (std::uint32_t a = 0; a < 6; ++a) {
      for (std::uint32_t b = 0; b < 6; ++b) add(topology.rack_switch(a), topology.rack_switch(b));
    }
    CHECK(dependencies.cycle().empty());
  }
}

TEST_CASE("A ring visits a data centre's nodes by number, wherever they are") {
  const Topology topology = center(random_counts(12, 3));
  const NodeRing ring = find_node_ring(topology);
  CHECK_FALSE(ring.hamiltonian);
  for (std::size_t i = 0; i < 12; ++i) CHECK(ring.nodes[i] == NodeId(i));
}

TEST_CASE("Every algorithm for switched networks runs on racks with unequally many nodes") {
  for (const char* name : {"ring", "halving_doubling", "dbtree", "direct", "multitree"}) {
    for (const std::uint32_t nodes : {8U, 16U, 13U}) {
      const Topology topology = center(random_counts(nodes, nodes));
      const Generator& generator = *find_generator(name);
      CAPTURE(name, nodes);
      if (std::string(name) == "halving_doubling" && nodes == 13) continue;
      REQUIRE(generator.unsuited(topology).empty());
      CollectiveRequest request;
      request.op = CollectiveOp::all_reduce;
      request.size = Bytes{nodes} * 4096;
      const ScheduleTables tables = lower_to_tables(generator.generate(topology, request));
      const Certificate certificate = certify(topology, tables, {});
      CHECK(certificate.ok());
    }
  }
}

TEST_CASE("Trees of a data centre cross racks less often than a ring over scattered nodes") {
  const Topology topology = center(random_counts(16, 2));
  const auto crossings = [&](const char* name) {
    CollectiveRequest request;
    request.op = CollectiveOp::all_gather;
    request.size = 16 * 1024;
    const Schedule schedule = find_generator(name)->generate(topology, request);
    std::size_t count = 0;
    for (const Transfer& t : schedule.transfers) {
      if (switch_of(topology, t.from) != switch_of(topology, t.to)) ++count;
    }
    return count;
  };
  CHECK(crossings("multitree") < crossings("ring"));
}
