// Routes of networks with switches, and the proof that they cannot deadlock.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "alg/routes/routing.h"
#include "test_graphs.h"
#include "tests/support/certify_schedule.h"
#include "tests/support/networks.h"

using namespace espalier;
using Catch::Matchers::Contains;
using espalier::test::kPlainLink;

namespace {

using Names = std::vector<std::string>;

Names vertices_between(const Topology& topology, std::size_t from, std::size_t to) {
  Names names;
  for (const LinkId link : route_packet(topology, NodeId(from), NodeId(to))) {
    names.push_back(topology.vertex_name(topology.link(link).to));
  }
  names.pop_back();
  return names;
}

// Every node copies its chunk straight to all others: the routes of all pairs in one schedule.
Schedule all_pairs(const Topology& topology) {
  const std::size_t nodes = topology.num_nodes();
  Schedule schedule(topology);
  schedule.algorithm = "all_pairs";
  schedule.op = CollectiveOp::all_gather;
  schedule.num_nodes = nodes;
  schedule.size = 4 * nodes;
  schedule.num_steps = 1;
  schedule.contention_free = false;  // all at once
  for (std::size_t n = 0; n < nodes; ++n) schedule.chunks.push_back({4 * n, 4, NodeId(n)});
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t b = 0; b < nodes; ++b) {
      if (a == b) continue;
      const RouteId route =
          schedule.routes.add(topology, route_packet(topology, NodeId(a), NodeId(b)));
      schedule.add({NodeId(a), NodeId(b), FlowId(a), ChunkId(a), 1, route, 1, TransferKind::copy},
                   {});
    }
  }
  return schedule;
}

std::string deadlocks(const Topology& topology, const Schedule& schedule, std::uint32_t classes) {
  CertifierLimits limits;
  limits.vc_classes = classes;
  std::string text;
  for (const Violation& violation : certify(topology, schedule, limits).violations) {
    if (violation.kind == ViolationKind::deadlock) text += violation.what + "\n";
  }
  return text;
}

std::vector<Topology> many_shapes() {
  std::vector<Topology> shapes;
  for (const std::uint32_t n : {2U, 3U, 8U}) {
    shapes.push_back(make_fully_connected(n, kPlainLink));
    shapes.push_back(make_single_switch(n, kPlainLink));
    shapes.push_back(make_switch_pair(n, kPlainLink));
  }
  shapes.push_back(make_switch_pair(1, kPlainLink));
  shapes.push_back(make_fat_tree(1, 2, 1, kPlainLink));
  shapes.push_back(make_fat_tree(2, 3, 4, kPlainLink));
  shapes.push_back(make_fat_tree(4, 5, 3, kPlainLink));
  shapes.push_back(make_fat_tree(8, 8, 8, kPlainLink));
  shapes.push_back(make_bigraph(1, 2, kPlainLink));
  shapes.push_back(make_bigraph(3, 4, kPlainLink));
  shapes.push_back(make_bigraph(2, 6, kPlainLink));
  shapes.push_back(make_bigraph(4, 8, kPlainLink));
  shapes.push_back(make_bigraph(4, 16, kPlainLink));
  shapes.push_back(make_dragonfly(1, 1, 2, kPlainLink));
  shapes.push_back(make_dragonfly(2, 1, 5, kPlainLink));
  shapes.push_back(make_dragonfly(1, 4, 2, kPlainLink));
  shapes.push_back(make_dragonfly(1, 2, 3, kPlainLink));
  shapes.push_back(make_dragonfly(1, 5, 4, kPlainLink));
  shapes.push_back(make_dragonfly(2, 3, 9, kPlainLink));
  shapes.push_back(make_dragonfly(2, 4, 9, kPlainLink));
  shapes.push_back(make_gpu_cluster({2, 4, 2, 2}, kPlainLink, kPlainLink));
  shapes.push_back(make_gpu_cluster({3, 4, 4, 1}, kPlainLink, kPlainLink));
  shapes.push_back(
      make_data_center({2, 2, 4, 2, 2, 1, 2, 2, 8, 2}, {kPlainLink, kPlainLink, kPlainLink}));
  return shapes;
}

}  // namespace

TEST_CASE("The routes of all pairs are free of deadlock in the classes their network has") {
  for (const Topology& topology : many_shapes()) {
    CAPTURE(topology.name());
    const Schedule schedule = all_pairs(topology);
    CHECK(certify(topology, schedule).ok());
    CHECK(least_vc_classes(topology) <= vc_classes(topology));
    for (std::uint32_t classes = least_vc_classes(topology); classes <= vc_classes(topology);
         ++classes) {
      CHECK(deadlocks(topology, schedule, classes) == "");
    }
    for (std::size_t r = topology.num_links(); r < schedule.routes.size(); ++r) {
      const RouteId route(r);
      for (std::size_t hop = 0; hop < schedule.routes.hops(route); ++hop) {
        CHECK(vc_classes_of(topology, schedule.routes, route)[hop] < vc_classes(topology));
      }
    }
  }
}

TEST_CASE("Routers keep as many VC classes apart as they have VCs, up to what routes need") {
  const Topology dragonfly = make_dragonfly(2, 4, 9, kPlainLink);
  CHECK(vc_classes(dragonfly) == 3);
  CHECK(usable_vc_classes(dragonfly, 1) == 1);
  CHECK(usable_vc_classes(dragonfly, 2) == 2);
  CHECK(usable_vc_classes(dragonfly, 4) == 3);
  CHECK(vc_classes(make_bigraph(4, 8, kPlainLink)) == 2);
  CHECK(vc_classes(make_fat_tree(8, 8, 8, kPlainLink)) == 1);
  CHECK(vc_classes(make_torus({4, 4}, kPlainLink)) == 2);
  CHECK(usable_vc_classes(make_torus({4, 4}, kPlainLink), 1) == 1);
}

TEST_CASE("With one VC class the local links of a dragonfly form a cycle") {
  for (const Topology& topology :
       {make_dragonfly(1, 2, 3, kPlainLink), make_dragonfly(2, 4, 9, kPlainLink)}) {
    CAPTURE(topology.name());
    const std::string cycle = deadlocks(topology, all_pairs(topology), 1);
    CHECK_THAT(cycle, Contains("virtual channels wait for each other") && Contains("link sw_") &&
                          Contains("in VC class 0 waits for"));
  }
}

TEST_CASE("A dragonfly's class counts the links between switches that lie behind a packet") {
  const Topology topology = make_dragonfly(1, 2, 3, kPlainLink);
  RouteSet routes(topology);
  // Switches 0 1 | 2 3 | 4 5. From group 0 to 1 by switch 0, from 1 to 0 by switch 3.
  CHECK(vertices_between(topology, 1, 2) == Names{"sw_1", "sw_0", "sw_3", "sw_2"});
  const RouteId route = routes.add(topology, route_packet(topology, NodeId(1), NodeId(2)));
  std::vector<std::uint32_t> classes;
  for (std::size_t hop = 0; hop < routes.hops(route); ++hop) {
    classes.push_back(vc_classes_of(topology, routes, route)[hop]);
  }
  CHECK(classes == std::vector<std::uint32_t>{0, 0, 1, 2, 2});
}

TEST_CASE(
    "A dragonfly route is minimal: it omits the hops of local, global, local that it does not "
    "need") {
  const Topology topology = make_dragonfly(2, 2, 3, kPlainLink);
  CHECK(vertices_between(topology, 0, 1) == Names{"sw_0"});
  CHECK(vertices_between(topology, 0, 3) == Names{"sw_0", "sw_1"});
  CHECK(vertices_between(topology, 0, 6) == Names{"sw_0", "sw_3"});
  CHECK(vertices_between(topology, 0, 4) == Names{"sw_0", "sw_3", "sw_2"});
}

TEST_CASE("A fat-tree route goes up to the spine source mod spines") {
  const Topology topology = make_fat_tree(4, 3, 3, kPlainLink);
  CHECK(vertices_between(topology, 0, 3) == Names{"sw_0"});
  CHECK(vertices_between(topology, 0, 11) == Names{"sw_0", "sp_0", "sw_2"});
  CHECK(vertices_between(topology, 5, 0) == Names{"sw_1", "sp_2", "sw_0"});
  CHECK(vertices_between(topology, 6, 0) == Names{"sw_1", "sp_0", "sw_0"});
}

TEST_CASE("A route across a switch pair takes the parallel link destination mod links") {
  const Topology topology = make_switch_pair(3, kPlainLink);
  const auto crossing = [&](std::size_t from, std::size_t to) {
    return topology.link(route_packet(topology, NodeId(from), NodeId(to)).at(1)).out_name;
  };
  CHECK(vertices_between(topology, 0, 2) == Names{"sw_0"});
  CHECK(crossing(0, 3) == "sw1_0");
  CHECK(crossing(0, 5) == "sw1_2");
  CHECK(crossing(4, 1) == "sw0_1");
}

TEST_CASE("A BiGraph route is one hop across, or two by the switch opposite to the source's") {
  const Topology topology = make_bigraph(2, 6, kPlainLink);
  CHECK(vertices_between(topology, 2, 3) == Names{"sw_1"});
  CHECK(vertices_between(topology, 2, 11) == Names{"sw_1", "sw_5"});
  CHECK(vertices_between(topology, 2, 4) == Names{"sw_1", "sw_4", "sw_2"});
  CHECK(vertices_between(topology, 8, 6) == Names{"sw_4", "sw_1", "sw_3"});
}

TEST_CASE("In a fully connected network every route is the direct link") {
  const Topology topology = make_fully_connected(5, kPlainLink);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) {
      if (a != b) CHECK(route_packet(topology, NodeId(a), NodeId(b)).size() == 1);
    }
  }
}

TEST_CASE("Two hops within a side of a BiGraph by any middle switch need the second class") {
  const Topology topology = make_bigraph(1, 4, kPlainLink);
  Schedule schedule(topology);
  schedule.op = CollectiveOp::all_gather;
  schedule.num_nodes = 4;
  schedule.size = 16;
  schedule.num_steps = 1;
  schedule.contention_free = false;  // all at once
  for (std::size_t n = 0; n < 4; ++n) schedule.chunks.push_back({4 * n, 4, NodeId(n)});
  const auto by = [&](std::size_t from, std::size_t middle, std::size_t to) {
    const auto sw = [&](std::size_t i) { return NodeId(4 + i); };
    const std::vector<LinkId> links{
        topology.link_between(NodeId(from), sw(from)), topology.link_between(sw(from), sw(middle)),
        topology.link_between(sw(middle), sw(to)), topology.link_between(sw(to), NodeId(to))};
    schedule.add({NodeId(from), NodeId(to), FlowId(from), ChunkId(from), 1,
                  schedule.routes.add(topology, links), 1, TransferKind::copy},
                 {});
  };
  by(0, 2, 1);  // 0 -> 2 -> 1
  by(2, 1, 3);  // 2 -> 1 -> 3
  by(1, 3, 0);  // 1 -> 3 -> 0
  by(3, 0, 2);  // 3 -> 0 -> 2
  const std::string cycle = deadlocks(topology, schedule, 1);
  for (const char* link : {"sw_0.sw2", "sw_2.sw1", "sw_1.sw3", "sw_3.sw0"}) {
    CHECK_THAT(cycle, Contains("link " + std::string(link) + " in VC class 0 waits for"));
  }
  CHECK(deadlocks(topology, schedule, 2) == "");
}

TEST_CASE("A routing with a cycle of links is refused, and the error lists the cycle") {
  // A ring of four switches, each with a node; all packets go round in one direction.
  Topology topology("ring of switches");
  for (std::size_t n = 0; n < 4; ++n) topology.add_node(fmt::format("n{}", n));
  for (std::size_t s = 0; s < 4; ++s) topology.add_switch(fmt::format("s{}", s));
  for (std::size_t n = 0; n < 4; ++n) {
    test::add_cable(topology, n, 4 + n, kPlainLink, kPlainLink);
    topology.add_link(NodeId(4 + n), NodeId(4 + (n + 1) % 4), kPlainLink, "on", "from_before");
    topology.add_link(NodeId(4 + (n + 1) % 4), NodeId(4 + n), kPlainLink, "back", "from_behind");
  }
  // The routes that espalier makes itself are good.
  CHECK(certify(topology, all_pairs(topology)).ok());

  Schedule schedule = all_pairs(topology);
  for (Transfer& transfer : schedule.transfers) {
    std::vector<LinkId> links{
        topology.link_between(transfer.from, NodeId(4 + transfer.from.index()))};
    for (std::size_t at = transfer.from.index(); at != transfer.to.index(); at = (at + 1) % 4) {
      links.push_back(topology.link_between(NodeId(4 + at), NodeId(4 + (at + 1) % 4)));
    }
    links.push_back(topology.link_between(NodeId(4 + transfer.to.index()), transfer.to));
    transfer.route = schedule.routes.add(topology, links);
  }
  CHECK_FALSE(certify(topology, schedule).ok());
  const std::string cycle = deadlocks(topology, schedule, 0);
  for (const char* link : {"s0.on", "s1.on", "s2.on", "s3.on"}) {
    CHECK_THAT(cycle, Contains("link " + std::string(link) + " in VC class 0 waits for"));
  }
}
