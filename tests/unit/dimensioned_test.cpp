#include <catch2/catch.hpp>

#include <set>
#include <stdexcept>

#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"

namespace espalier {
namespace {

using Shape = DimensionShape;

constexpr LinkSpec kDimensionLink{100'000, 25'000'000'000, 25};

NodeId vertex_named(const Topology& topology, const std::string& name) {
  const NodeId found = topology.find_vertex(name);
  REQUIRE(found.valid());
  return found;
}

const TopologyLink& out_link(const Topology& topology, NodeId from, std::uint32_t port) {
  return topology.link(topology.out_links(from).at(port));
}
const TopologyLink& in_link(const Topology& topology, NodeId to, std::uint32_t port) {
  return topology.link(topology.in_links(to).at(port));
}

// What dimensions.h says of every such system.
void check_contract(const std::vector<DimensionSpec>& dimensions) {
  const Topology topology = make_dimensions(dimensions);
  CAPTURE(topology.name());
  REQUIRE(topology.dimensions());
  const DimensionedShape& shape = *topology.dimensions();
  CHECK_FALSE(topology.find_disconnected().valid());
  CHECK(topology.num_nodes() == shape.num_nodes());
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId node(n);
    std::uint32_t port = 0;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const DimensionSpec& dimension = dimensions[d];
      CHECK(shape.first_port(d) == port);
      const std::uint32_t x = shape.coordinate(node, d);
      CHECK(shape.peer(node, d, x) == node);
      for (std::uint32_t i = 0; i < dimension.links; ++i, ++port) {
        const TopologyLink& out = out_link(topology, node, port);
        const TopologyLink& in = in_link(topology, node, port);
        CHECK(shape.dimension_of_port(port) == d);
        CHECK(out.out_name == "d" + std::to_string(d + 1) + "_" + std::to_string(i));
        CHECK(in.in_name == out.out_name);
        CHECK(out.spec == dimension.link);
        if (dimension.shape == Shape::switched) {
          CHECK(topology.is_switch(out.to));
          CHECK(in.from == out.to);
          CHECK(topology.out_links(out.to).size() == dimension.size);
          // A switch's ports are its nodes in order.
          CHECK(out.in_port == x);
          CHECK(in.out_port == x);
          continue;
        }
        const std::uint32_t direction = i / dimension.parallel_links();
        const std::uint32_t step =
            dimension.shape == Shape::ring && direction == 1 ? dimension.size - 1 : direction + 1;
        CHECK(out.to == shape.peer(node, d, (x + step) % dimension.size));
        CHECK(in.from == shape.peer(node, d, (x + dimension.size - step) % dimension.size));
        CHECK(out.in_port == port);
      }
    }
    CHECK(topology.out_links(node).size() == port);
    CHECK(topology.in_links(node).size() == port);
  }
}

TEST_CASE("Every product of shapes has its links where the shape says") {
  const DimensionSpec ring{Shape::ring, 4, 2, kDimensionLink};
  const DimensionSpec wide_ring{Shape::ring, 3, 6, kDimensionLink};
  const DimensionSpec pair{Shape::ring, 2, 4, kDimensionLink};
  const DimensionSpec complete{Shape::fully_connected, 4, 3, kDimensionLink};
  const DimensionSpec wide_complete{Shape::fully_connected, 3, 4, kDimensionLink};
  const DimensionSpec one_switch{Shape::switched, 4, 1, kDimensionLink};
  const DimensionSpec planes{Shape::switched, 3, 5, kDimensionLink};
  const std::vector<DimensionSpec> all{ring,          wide_ring,  pair,  complete,
                                       wide_complete, one_switch, planes};
  for (const DimensionSpec& a : all) {
    check_contract({a});
    for (const DimensionSpec& b : all) check_contract({a, b});
  }
  check_contract({ring, wide_complete, planes});
  check_contract({pair, planes, wide_ring, one_switch});
}

TEST_CASE("A system's name tells shapes and sizes, its vertices their coordinates") {
  const Topology topology = make_dimensions({{Shape::ring, 4, 2, kDimensionLink},
                                             {Shape::fully_connected, 3, 2, kDimensionLink},
                                             {Shape::switched, 2, 2, kDimensionLink}});
  CHECK(topology.name() == "3D-ring_fc_sw 4x3x2");
  CHECK(topology.num_nodes() == 24);
  CHECK(topology.num_switches() == 24);  // two planes of 12 groups
  CHECK(topology.vertex_name(NodeId(0)) == "r_0_0_0");
  CHECK(topology.vertex_name(NodeId(3 + 4 * 2 + 12 * 1)) == "r_3_2_1");
  const NodeId node = vertex_named(topology, "r_1_2_0");
  CHECK(out_link(topology, node, 0).to == vertex_named(topology, "r_2_2_0"));
  CHECK(out_link(topology, node, 1).to == vertex_named(topology, "r_0_2_0"));
  CHECK(out_link(topology, node, 2).to == vertex_named(topology, "r_1_0_0"));
  CHECK(out_link(topology, node, 3).to == vertex_named(topology, "r_1_1_0"));
  CHECK(out_link(topology, node, 4).to == vertex_named(topology, "sw_3_0_1_2"));
  CHECK(out_link(topology, node, 5).to == vertex_named(topology, "sw_3_1_1_2"));
  CHECK(out_link(topology, vertex_named(topology, "sw_3_1_1_2"), 1).to ==
        vertex_named(topology, "r_1_2_1"));
  CHECK(out_link(topology, vertex_named(topology, "sw_3_1_1_2"), 1).out_name == "n1");
}

TEST_CASE("A ring of two has links both ways round, to the same neighbour") {
  const Topology topology = make_dimensions({{Shape::ring, 2, 4, kDimensionLink}});
  REQUIRE(topology.out_links(NodeId(0)).size() == 4);
  for (std::uint32_t port = 0; port < 4; ++port) {
    CHECK(out_link(topology, NodeId(0), port).to == NodeId(1));
  }
  CHECK((DimensionSpec{Shape::ring, 2, 4, kDimensionLink}).parallel_links() == 2);
}

TEST_CASE("The planes of a switched dimension share nothing") {
  const Topology topology = make_dimensions({{Shape::switched, 4, 3, kDimensionLink}});
  CHECK(topology.num_switches() == 3);
  std::set<NodeId> planes;
  for (std::uint32_t port = 0; port < 3; ++port) {
    planes.insert(out_link(topology, NodeId(2), port).to);
  }
  CHECK(planes.size() == 3);
}

TEST_CASE("The way back from a switch may be shorter than the way there") {
  DimensionSpec dimension{Shape::switched, 4, 1, kDimensionLink};
  dimension.from_switch_latency_ps = 99'000;
  const Topology topology = make_dimensions({dimension});
  CHECK(out_link(topology, NodeId(0), 0).spec == kDimensionLink);
  CHECK(in_link(topology, NodeId(0), 0).spec.latency_ps == 99'000);
  CHECK(in_link(topology, NodeId(0), 0).spec.bytes_per_second == kDimensionLink.bytes_per_second);
}

TEST_CASE("An NPU's bandwidth in a dimension is that of all its links") {
  CHECK((DimensionSpec{Shape::switched, 16, 6, kDimensionLink}).bytes_per_second() ==
        150'000'000'000);
  CHECK((DimensionSpec{Shape::fully_connected, 8, 14, kDimensionLink}).parallel_links() == 2);
  CHECK((DimensionSpec{Shape::switched, 16, 6, kDimensionLink}).parallel_links() == 6);
}

TEST_CASE("Systems of thousands of NPUs are built with all their links") {
  const Topology topology = make_dimensions({{Shape::ring, 4, 2, {20'000, 187'500'000'000, 188}},
                                             {Shape::fully_connected, 16, 15, kDimensionLink},
                                             {Shape::ring, 4, 6, kDimensionLink},
                                             {Shape::switched, 16, 1, {850'000, 100'000'000'000}}});
  CHECK(topology.num_nodes() == 4096);
  CHECK(topology.num_switches() == 256);
  CHECK(topology.num_links() == 4096U * (2 + 15 + 6 + 2));
  CHECK_FALSE(topology.find_disconnected().valid());
  // 188 B x 1 GHz are 376/375 of the first dimension's rate; the last one's flits are the clock's.
  const SystemTiming timing = time_links(topology, {1'000'000'000, 100});
  CHECK(timing.ticks_per_cycle == 375);
  CHECK(timing.links.front().ticks_per_flit == 376);
  CHECK(timing.links.back().ticks_per_flit == 375);
}

TEST_CASE("A shape that is not a multi-dimensional system is refused") {
  const auto refused = [](const std::vector<DimensionSpec>& dimensions) {
    CHECK_THROWS_AS(make_dimensions(dimensions), std::invalid_argument);
  };
  refused({});
  refused({{Shape::ring, 1, 2, kDimensionLink}});
  refused({{Shape::switched, 0, 1, kDimensionLink}});
  refused({{Shape::fully_connected, 1, 0, kDimensionLink}});
  refused({{Shape::ring, 4, 3, kDimensionLink}});
  refused({{Shape::ring, 4, 0, kDimensionLink}});
  refused({{Shape::fully_connected, 4, 4, kDimensionLink}});
  refused({{Shape::switched, 4, 0, kDimensionLink}});
  refused({{Shape::switched, 4, 1, kDimensionLink}, {Shape::ring, 4, 1, kDimensionLink}});
  refused(
      {{Shape::switched, 65536, 1, kDimensionLink}, {Shape::switched, 65536, 1, kDimensionLink}});
}

}  // namespace
}  // namespace espalier
