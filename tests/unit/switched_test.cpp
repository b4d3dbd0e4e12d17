#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "hw/topology/topology.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using Names = std::vector<std::string>;

Names names_behind(const Topology& topology, NodeId vertex) {
  Names names;
  for (const LinkId l : topology.out_links(vertex)) {
    names.push_back(topology.vertex_name(topology.link(l).to));
  }
  return names;
}

Names out_names(const Topology& topology, NodeId vertex) {
  Names names;
  for (const LinkId l : topology.out_links(vertex)) names.push_back(topology.link(l).out_name);
  return names;
}

NodeId vertex(const Topology& topology, const std::string& name) {
  const NodeId found = topology.find_vertex(name);
  REQUIRE(found.valid());
  return found;
}

// What holds in every network of this file: cables, that is links with a link back at the same
// ports; names that SystemC takes; everybody reachable.
void check_cables(const Topology& topology) {
  CAPTURE(topology.name());
  CHECK_FALSE(topology.find_disconnected().valid());
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const auto& outs = topology.out_links(NodeId(v));
    const auto& ins = topology.in_links(NodeId(v));
    REQUIRE(outs.size() == ins.size());
    std::set<std::string> names;
    for (std::size_t p = 0; p < outs.size(); ++p) {
      names.insert(topology.link(outs[p]).out_name);
      CHECK(std::all_of(topology.link(outs[p]).out_name.begin(),
                        topology.link(outs[p]).out_name.end(),
                        [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }));
    }
    CHECK(names.size() == outs.size());
  }
}

void check_switched(const Topology& topology, std::size_t nodes_per_switch) {
  check_cables(topology);
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId leaf = vertex(topology, fmt::format("sw_{}", n / nodes_per_switch));
    REQUIRE(topology.out_links(NodeId(n)).size() == 1);
    CHECK(topology.link(topology.out_links(NodeId(n)).front()).to == leaf);
    // The leaf's first ports, in node order.
    const std::size_t port = n % nodes_per_switch;
    CHECK(topology.link(topology.out_links(leaf)[port]).to == NodeId(n));
    CHECK(topology.link(topology.in_links(leaf)[port]).from == NodeId(n));
  }
  for (std::size_t s = topology.num_nodes(); s < topology.num_vertices(); ++s) {
    const auto& outs = topology.out_links(NodeId(s));
    const auto& ins = topology.in_links(NodeId(s));
    for (std::size_t p = 0; p < outs.size(); ++p) {
      const TopologyLink& out = topology.link(outs[p]);
      const TopologyLink& in = topology.link(ins[p]);
      CHECK(out.to == in.from);
      CHECK(out.out_name == in.in_name);
      if (p != 0) CHECK(topology.link(outs[p - 1]).to <= out.to);
    }
  }
}

TEST_CASE("In a fully connected network port j leads j + 1 nodes on, and comes from as far back") {
  for (const std::uint32_t nodes : {2U, 3U, 5U, 8U}) {
    const Topology topology = make_fully_connected(nodes, test::kPlainLink);
    check_cables(topology);
    CHECK(topology.num_switches() == 0);
    CHECK(topology.num_links() == std::size_t{nodes} * (nodes - 1));
    for (std::uint32_t v = 0; v < nodes; ++v) {
      for (std::uint32_t j = 0; j + 1 < nodes; ++j) {
        CHECK(topology.link(topology.out_links(NodeId(v))[j]).to == NodeId((v + j + 1) % nodes));
        CHECK(topology.link(topology.in_links(NodeId(v))[j]).from ==
              NodeId((v + nodes - j - 1) % nodes));
      }
    }
  }
  CHECK(out_names(make_fully_connected(3, test::kPlainLink), NodeId(1)) == Names{"n2", "n0"});
}

TEST_CASE("A single switch has a port for each node") {
  const Topology topology = make_single_switch(4, test::kPlainLink);
  check_switched(topology, 4);
  CHECK(topology.num_switches() == 1);
  CHECK(names_behind(topology, vertex(topology, "sw_0")) == Names{"n_0", "n_1", "n_2", "n_3"});
  CHECK(out_names(topology, NodeId(2)) == Names{"sw0"});
}

TEST_CASE("The switches of a pair have as many links between them as nodes each") {
  const Topology topology = make_switch_pair(3, test::kPlainLink);
  check_switched(topology, 3);
  CHECK(topology.num_nodes() == 6);
  CHECK(topology.num_switches() == 2);
  CHECK(out_names(topology, vertex(topology, "sw_1")) ==
        Names{"n3", "n4", "n5", "sw0_0", "sw0_1", "sw0_2"});
}

TEST_CASE("Every leaf of a fat-tree has one link to every spine") {
  const Topology topology = make_fat_tree(2, 3, 4, test::kPlainLink);
  check_switched(topology, 2);
  CHECK(topology.num_nodes() == 6);
  CHECK(topology.num_switches() == 7);
  CHECK(names_behind(topology, vertex(topology, "sw_1")) ==
        Names{"n_2", "n_3", "sp_0", "sp_1", "sp_2", "sp_3"});
  CHECK(names_behind(topology, vertex(topology, "sp_3")) == Names{"sw_0", "sw_1", "sw_2"});
  // The paper's 64 nodes: 8-ary, 2 levels.
  const Topology paper = make_fat_tree(8, 8, 8, test::kPlainLink);
  CHECK(paper.num_nodes() == 64);
  CHECK(paper.num_switches() == 16);
  CHECK(paper.num_links() == 2 * (64 + 64));
}

TEST_CASE("Every switch of a BiGraph is linked to every switch of the other side, to none of its") {
  const Topology topology = make_bigraph(2, 6, test::kPlainLink);
  check_switched(topology, 2);
  CHECK(topology.num_nodes() == 12);
  CHECK(names_behind(topology, vertex(topology, "sw_1")) ==
        Names{"n_2", "n_3", "sw_3", "sw_4", "sw_5"});
  CHECK(names_behind(topology, vertex(topology, "sw_4")) ==
        Names{"n_8", "n_9", "sw_0", "sw_1", "sw_2"});
  CHECK(topology.shape().sides->switches == 6);
  CHECK(topology.shape().sides->nodes_per_switch == 2);
  // MultiTree's 4x8 and 4x16.
  CHECK(make_bigraph(4, 8, test::kPlainLink).num_nodes() == 32);
  CHECK(make_bigraph(4, 16, test::kPlainLink).num_nodes() == 64);
}

TEST_CASE("Two groups of a dragonfly share one link each way, spread evenly over their switches") {
  struct Size {
    std::uint32_t group_size, groups;
  };
  for (const Size size : {Size{1, 2}, {1, 5}, {2, 2}, {4, 2}, {2, 3}, {4, 9}, {3, 9}, {5, 4}}) {
    const Topology topology = make_dragonfly(2, size.group_size, size.groups, test::kPlainLink);
    check_switched(topology, 2);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> between;
    std::vector<std::uint32_t> global(topology.num_switches(), 0);
    std::size_t local = 0;
    for (const TopologyLink& link : topology.links()) {
      if (!topology.is_switch(link.from) || !topology.is_switch(link.to)) continue;
      const auto leaf = [&](NodeId v) {
        return static_cast<std::uint32_t>(v.index() - topology.num_nodes());
      };
      const std::uint32_t g = leaf(link.from) / size.group_size;
      const std::uint32_t h = leaf(link.to) / size.group_size;
      if (g == h) {
        ++local;
        continue;
      }
      ++between[{g, h}];
      ++global[leaf(link.from)];
    }
    CHECK(local == std::size_t{size.groups} * size.group_size * (size.group_size - 1));
    CHECK(between.size() == std::size_t{size.groups} * (size.groups - 1));
    for (const auto& [pair, links] : between) CHECK(links == 1);
    const auto [least, most] = std::minmax_element(global.begin(), global.end());
    CHECK(*most - *least <= 1);
  }
}

TEST_CASE("The port order of a dragonfly switch: nodes, then switches by number") {
  const Topology topology = make_dragonfly(1, 2, 3, test::kPlainLink);
  // Group 1 counts group 2 first, then group 0: switch 2 has the link to 2, switch 3 that to 0.
  CHECK(names_behind(topology, vertex(topology, "sw_2")) == Names{"n_2", "sw_3", "sw_5"});
  CHECK(names_behind(topology, vertex(topology, "sw_3")) == Names{"n_3", "sw_0", "sw_2"});
}

TEST_CASE("Builders of switched networks refuse invalid shapes") {
  CHECK_THROWS_AS(make_fully_connected(1, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_single_switch(1, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_switch_pair(0, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_fat_tree(0, 2, 2, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_fat_tree(2, 1, 2, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_fat_tree(2, 2, 0, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_bigraph(0, 4, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_bigraph(2, 5, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_bigraph(2, 0, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_dragonfly(0, 2, 2, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_dragonfly(1, 0, 2, test::kPlainLink), std::invalid_argument);
  CHECK_THROWS_AS(make_dragonfly(1, 2, 1, test::kPlainLink), std::invalid_argument);
}

}  // namespace
}  // namespace espalier
