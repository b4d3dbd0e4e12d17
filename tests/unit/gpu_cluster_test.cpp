// Servers of GPUs: their graph, its routes, and what is proved of both.
#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include "alg/bounds/bounds.h"
#include "alg/certify/channel_dependencies.h"
#include "alg/generators/generator.h"
#include "alg/generators/process_group.h"
#include "alg/generators/rank_shapes.h"
#include "alg/generators/rings.h"
#include "alg/program/connection_routes.h"
#include "alg/routes/routing.h"
#include "tests/support/certify_schedule.h"
#include "tests/support/networks.h"

using namespace espalier;

namespace {

constexpr LinkSpec kNvlink{200'000, 300'000'000'000};
constexpr LinkSpec kNicLink{500'000, 25'000'000'000};
using Names = std::vector<std::string>;

// {servers, gpus_per_server, gpus_per_nic_group, nics_per_group}
Topology cluster(const ClusterCounts& shape) { return make_gpu_cluster(shape, kNvlink, kNicLink); }

Names gpus_behind(const Topology& topology, const std::string& vertex) {
  Names names;
  for (const LinkId link : topology.out_links(topology.find_vertex(vertex))) {
    names.push_back(topology.vertex_name(topology.link(link).to));
  }
  return names;
}

Names on_the_way(const Topology& topology, const std::vector<LinkId>& route) {
  Names names;
  for (const LinkId link : route) names.push_back(topology.vertex_name(topology.link(link).to));
  names.pop_back();
  return names;
}

// As a connected walk between these nodes.
bool leads(const Topology& topology, const std::vector<LinkId>& route, NodeId from, NodeId to) {
  NodeId at = from;
  for (const LinkId link : route) {
    if (topology.link(link).from != at) return false;
    at = topology.link(link).to;
  }
  return at == to;
}

// Of all pairs and that many channels together.
std::string circle_of_routes(const Topology& topology, std::uint32_t channels,
                             std::uint32_t classes) {
  RouteSet routes(topology);
  ChannelDependencies dependencies(topology, classes);
  for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
    for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
      for (std::uint32_t channel = 0; a != b && channel < channels; ++channel) {
        const auto links = connection_route(topology, NodeId(a), NodeId(b), channel);
        CHECK(leads(topology, links, NodeId(a), NodeId(b)));
        dependencies.add(routes, routes.add(topology, links));
      }
    }
  }
  return dependencies.cycle();
}

}  // namespace

TEST_CASE("A cluster has its GPUs, a switch for each server, NICs for each group and one fabric") {
  const Topology topology = cluster({2, 4, 2, 2});
  CHECK(topology.name() == "gpu_cluster 2x4x4");
  CHECK(topology.num_nodes() == 8);
  CHECK(topology.num_switches() == 2 + 8 + 1);
  CHECK(topology.num_links() == 2 * (8 + 16 + 8));
  CHECK_FALSE(topology.find_disconnected().valid());
  CHECK(gpus_behind(topology, "n_0") == Names{"nvs_0", "nic_0", "nic_1"});
  CHECK(gpus_behind(topology, "n_3") == Names{"nvs_0", "nic_2", "nic_3"});
  CHECK(gpus_behind(topology, "n_4") == Names{"nvs_1", "nic_4", "nic_5"});
  CHECK(gpus_behind(topology, "nvs_1") == Names{"n_4", "n_5", "n_6", "n_7"});
  CHECK(gpus_behind(topology, "nic_3") == Names{"n_2", "n_3", "ib"});
  CHECK(gpus_behind(topology, "ib").size() == 8);
}

TEST_CASE("A cluster's links to the servers' switches and to its NICs have rates of their own") {
  const Topology topology = cluster({2, 4, 2, 1});
  for (const TopologyLink& link : topology.links()) {
    const bool nvlink = topology.vertex_name(link.from).compare(0, 3, "nvs") == 0 ||
                        topology.vertex_name(link.to).compare(0, 3, "nvs") == 0;
    CHECK(link.spec == (nvlink ? kNvlink : kNicLink));
    CHECK(topology.link_between(link.to, link.from).valid());
  }
}

TEST_CASE("A single server needs no NICs") {
  const Topology topology = cluster({1, 8, 2, 2});
  CHECK(topology.name() == "gpu_cluster 1x8");
  CHECK(topology.num_switches() == 1);
  CHECK(topology.num_links() == 16);
}

TEST_CASE("A cluster without GPUs, or with groups that do not divide a server, is refused") {
  for (const ClusterCounts& shape : std::vector<ClusterCounts>{
           {0, 8, 2, 2}, {1, 0, 1, 1}, {2, 8, 0, 1}, {2, 8, 2, 0}, {2, 8, 3, 1}, {1, 1, 1, 1}}) {
    CHECK_THROWS_AS(cluster(shape), std::invalid_argument);
  }
}

TEST_CASE("GPUs of one server meet at its switch, others at the fabric, by the NICs of places") {
  const Topology topology = cluster({3, 4, 2, 2});
  const auto way = [&](std::size_t from, std::size_t to) {
    return on_the_way(topology, route_packet(topology, NodeId(from), NodeId(to)));
  };
  CHECK(way(0, 1) == Names{"nvs_0"});
  CHECK(way(7, 4) == Names{"nvs_1"});
  CHECK(way(0, 4) == Names{"nic_0", "ib", "nic_4"});
  CHECK(way(3, 10) == Names{"nic_3", "ib", "nic_10"});
  CHECK(way(11, 1) == Names{"nic_11", "ib", "nic_1"});
}

TEST_CASE("GPUs that share one NIC use it, in fours by their places") {
  const Topology shared = cluster({2, 4, 2, 1});
  for (const std::size_t from : {2U, 3U}) {
    CHECK(on_the_way(shared, route_packet(shared, NodeId(from), NodeId(7))) ==
          Names{"nic_1", "ib", "nic_3"});
  }
  const Topology fours = cluster({2, 4, 4, 2});
  CHECK(on_the_way(fours, route_packet(fours, NodeId(2), NodeId(7))) ==
        Names{"nic_0", "ib", "nic_3"});
}

TEST_CASE("A connection's channel turns the NICs of both its ends") {
  const Topology topology = cluster({2, 4, 2, 2});
  const auto way = [&](std::size_t from, std::size_t to, std::uint32_t channel) {
    return on_the_way(topology, connection_route(topology, NodeId(from), NodeId(to), channel));
  };
  CHECK(way(0, 6, 0) == Names{"nic_0", "ib", "nic_6"});
  CHECK(way(0, 6, 1) == Names{"nic_1", "ib", "nic_7"});
  CHECK(way(0, 6, 2) == way(0, 6, 0));
  CHECK(way(1, 6, 1) == Names{"nic_0", "ib", "nic_7"});
  CHECK(way(1, 2, 5) == Names{"nvs_0"});
}

TEST_CASE("Channel 0 of a connection is the route of packets, on every network") {
  for (const Topology& topology :
       {make_torus({2, 3}, kNvlink), make_mesh({3, 2}, kNvlink), make_fat_tree(2, 2, 3, kNvlink),
        make_switch_pair(3, kNvlink), make_bigraph(2, 4, kNvlink), make_dragonfly(1, 2, 3, kNvlink),
        make_fully_connected(4, kNvlink), cluster({2, 4, 2, 2})}) {
    CAPTURE(topology.name());
    for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
      for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
        if (a == b) continue;
        CHECK(connection_route(topology, NodeId(a), NodeId(b), 0) ==
              route_packet(topology, NodeId(a), NodeId(b)));
      }
    }
  }
}

TEST_CASE("Channels take turns on parallel links, spines and the links of a switch pair") {
  const auto second_vertex = [](const Topology& topology, std::uint32_t channel) {
    const auto route =
        connection_route(topology, NodeId(0), NodeId(topology.num_nodes() - 1), channel);
    return topology.vertex_name(topology.link(route.at(1)).to);
  };
  const Topology fat_tree = make_fat_tree(2, 2, 3, kNvlink);
  CHECK(second_vertex(fat_tree, 0) == "sp_0");
  CHECK(second_vertex(fat_tree, 2) == "sp_2");
  CHECK(second_vertex(fat_tree, 4) == "sp_1");
  const Topology pair = make_switch_pair(3, kNvlink);
  const auto crossing = [&](std::uint32_t channel) {
    return pair.link(connection_route(pair, NodeId(0), NodeId(3), channel).at(1)).out_name;
  };
  CHECK(crossing(0) == "sw1_0");
  CHECK(crossing(1) == "sw1_1");
  CHECK(crossing(5) == "sw1_2");
  const Topology ring_of_two = make_torus({2}, kNvlink);
  const auto direct = [&](std::uint32_t channel) {
    const auto route = connection_route(ring_of_two, NodeId(0), NodeId(1), channel);
    REQUIRE(route.size() == 1);
    return route.front();
  };
  CHECK(direct(0) != direct(1));
  CHECK(direct(0) == direct(2));
}

TEST_CASE("A connection leads from a node to another one") {
  CHECK_THROWS_AS(connection_route(cluster({1, 4, 1, 1}), NodeId(1), NodeId(1), 0),
                  std::invalid_argument);
}

TEST_CASE("All connections of all channels together are free of deadlock in the fewest classes") {
  for (const Topology& topology :
       {cluster({1, 8, 1, 1}), cluster({2, 8, 2, 2}), cluster({3, 4, 2, 1}), cluster({4, 1, 1, 2}),
        cluster({2, 6, 3, 2}), make_fat_tree(3, 4, 2, kNvlink), make_switch_pair(4, kNvlink),
        make_torus({2, 4}, kNvlink), make_torus({2, 2}, kNvlink)}) {
    CAPTURE(topology.name());
    CHECK(circle_of_routes(topology, 4, least_vc_classes(topology)) == "");
  }
  CHECK(vc_classes(cluster({2, 8, 2, 2})) == 1);
}

TEST_CASE("A ring visits a cluster server by server and never shares a link") {
  const Topology topology = cluster({3, 4, 2, 2});
  const NodeRing ring = find_node_ring(topology);
  CHECK_FALSE(ring.hamiltonian);
  for (std::size_t i = 0; i < 12; ++i) CHECK(ring.nodes.at(i) == NodeId(i));
  CHECK(on_the_way(topology, ring.hops.at(3)) == Names{"nic_3", "ib", "nic_4"});
  CHECK(on_the_way(topology, ring.hops.at(11)) == Names{"nic_11", "ib", "nic_0"});
  CollectiveRequest request;
  request.size = 1200;
  CHECK(find_generator("ring")->generate(topology, request).contention_free);
}

TEST_CASE("An all-gather is bound by the NICs of a server, or by the links of a GPU") {
  const auto terabytes_per_second = [](const ClusterCounts& shape) {
    return 1e-12 / bandwidth_bound(cluster(shape), CollectiveOp::all_gather).seconds_per_byte;
  };
  // Three quarters of the result enter each of four servers by its 8 NICs.
  CHECK(terabytes_per_second({4, 8, 2, 2}) == Approx(0.2 / 0.75));
  CHECK(terabytes_per_second({4, 16, 2, 1}) == Approx(0.2 / 0.75));
  CHECK(terabytes_per_second({2, 8, 2, 2}) == Approx(0.35 * 16 / 15));
  CHECK(terabytes_per_second({1, 8, 2, 2}) == Approx(0.3 * 8 / 7));
}

TEST_CASE("Every algorithm with routes runs on servers with slow NICs; the others say why not") {
  std::vector<std::string> able;
  for (const Topology& topology :
       {cluster({1, 8, 1, 1}), cluster({2, 8, 2, 2}), cluster({3, 4, 2, 1})}) {
    able.clear();
    for (const Generator& generator : generators()) {
      CAPTURE(topology.name(), generator.name);
      if (!generator.unsuited(topology).empty()) continue;
      able.push_back(generator.name);
      for (const CollectiveOp op : generator.ops) {
        if (has_counts(op)) continue;  // needs counts
        CollectiveRequest request;
        request.op = op;
        request.size = 4800;
        request.base = smallest_bcube_base(topology.num_nodes());
        const Certificate certificate = certify(topology, generator.generate(topology, request));
        for (const Violation& violation : certificate.violations) UNSCOPED_INFO(violation.what);
        CHECK(certificate.ok());
      }
    }
    CHECK(able == Names{"ring", "bidirectional_ring", "multitree", "direct", "pairwise",
                        "halving_doubling", "bcube", "dbtree", "binomial", "chain", "forest",
                        "a2a_paths", "auto"});
  }
}

TEST_CASE("Messages of a group leave its servers through each GPU's own NIC, in pairs at a time") {
  const Topology topology = cluster({3, 4, 1, 1});
  CollectiveRequest request;
  request.op = CollectiveOp::all_to_all;
  request.size = 9600;
  std::vector<NodeId> nodes;
  for (const std::uint32_t node : {1U, 3U, 4U, 6U, 9U, 11U}) nodes.push_back(NodeId(node));
  const ProcessGroup group(topology, nodes);
  const Generator& pairwise = *find_generator("pairwise");
  const Schedule schedule = group.in_whole(generate(pairwise, group.network(), request));
  CHECK(certify(topology, schedule).contention_free);
  CHECK(schedule.transfers.size() == 30);
  CHECK(schedule.num_steps == 5);
  for (const Transfer& t : schedule.transfers) {
    const auto links = schedule.routes.links(t.route);
    CHECK(std::vector<LinkId>(links.begin(), links.end()) == route_packet(topology, t.from, t.to));
  }
}

TEST_CASE("MULTITREE's paths between GPUs of any server stay in it") {
  const Topology topology = cluster({3, 4, 2, 2});
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = 4800;
  const Schedule schedule = find_generator("multitree")->generate(topology, request);
  std::size_t inside = 0;
  for (const Transfer& t : schedule.transfers) {
    const bool same = t.from.index() / 4 == t.to.index() / 4;
    CHECK(schedule.routes.hops(t.route) == (same ? 2U : 4U));
    if (same) ++inside;
  }
  // 11 transfers for each of 12 trees; NICs are slow.
  CHECK(schedule.transfers.size() == 132);
  CHECK(inside > 66);
}
