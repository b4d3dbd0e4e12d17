// Multi-dimensional systems: in each dimension, every NPU is part of a separate network, as in the
// hierarchical systems of Themis (ISCA 2022, Fig. 1 and Table 2).
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "hw/link_spec.h"

namespace espalier {

enum class DimensionShape : std::uint8_t {
  ring,             // links in both directions; half of an NPU's links lead each way
  fully_connected,  // each pair of NPUs has links / (size - 1) links each way
  // `links` planes; in a plane, one switch has one link to every NPU of the group. Or one switch
  // with all links of the group (DimensionSpec::one_switch).
  switched
};

// One dimension. A group is the NPUs whose other coordinates are equal. Each group has a network of
// this shape, which only its NPUs use.
struct DimensionSpec {
  DimensionShape shape = DimensionShape::ring;
  std::uint32_t size = 2;  // NPUs of a group, P_K
  // Links that leave an NPU. ring: even. fully_connected: a multiple of size - 1.
  std::uint32_t links = 2;
  LinkSpec link;  // one link; flits are as wide as this dimension's network
  // switched: latency of the links from the switch back to the NPUs, for a total that two equal
  // link latencies cannot add up to. 0: as `link`.
  std::uint64_t from_switch_latency_ps = 0;
  // switched: the switch of a group reduces and multicasts (DimensionAlgorithm::in_network). One
  // switch then has all links of its NPUs, instead of one switch for each plane, because the switch
  // that reduces a message must receive all stripes of the message.
  bool one_switch = false;

  // Bandwidth of an NPU in this dimension, bytes per second.
  [[nodiscard]] std::uint64_t bytes_per_second() const { return links * link.bytes_per_second; }
  // Number of neighbours to which an NPU has links: ring 2, fully_connected size - 1, switched 1.
  // `links` is a multiple of it.
  [[nodiscard]] std::uint32_t directions() const;
  // Parallel links to one neighbour (on a ring: in one direction), or the number of planes.
  [[nodiscard]] std::uint32_t parallel_links() const { return links / directions(); }
  // Number of switches of a group.
  [[nodiscard]] std::uint32_t planes() const;
};

// Number of links on the way from one NPU to another of its group.
[[nodiscard]] constexpr std::uint32_t hops_in(DimensionShape shape) {
  return shape == DimensionShape::switched ? 2 : 1;
}
// The smallest valid number of links of an NPU. Every valid number is a multiple of it.
// Precondition: size >= 2.
[[nodiscard]] std::uint32_t fewest_links(DimensionShape shape, std::uint32_t size);

// Kept beside the graph of a multi-dimensional system. Node id = x1 + P1 * (x2 + P2 * ...). A
// node's outgoing links are numbered dimension by dimension. Within a dimension: ring, the links to
// x+1, then the links to x-1; fully_connected, the links to x+1, then to x+2, ... (modulo size);
// switched, plane by plane. Incoming links are numbered in the same order: from x-1, then from x+1;
// from x-1, x-2, ...; plane by plane. With one_switch, the NPU numbers its links in the same way,
// and the switch numbers its links NPU by NPU.
struct DimensionedShape {
  std::vector<DimensionSpec> dimensions;

  [[nodiscard]] std::size_t num_nodes() const;
  // Distance in node ids between two neighbours in dimension `d`: P_1 * ... * P_(d-1).
  [[nodiscard]] std::uint32_t stride(std::size_t d) const;
  [[nodiscard]] std::uint32_t coordinate(NodeId node, std::size_t d) const {
    return node.value() / stride(d) % dimensions[d].size;
  }
  // The node with coordinate `x` in the group of `node` in dimension `d`.
  [[nodiscard]] NodeId peer(NodeId node, std::size_t d, std::uint32_t x) const;
  // Port of a node's first link in dimension `d`; outgoing and incoming ports have the same
  // numbers.
  [[nodiscard]] std::uint32_t first_port(std::size_t d) const;
  [[nodiscard]] std::size_t dimension_of_port(std::uint32_t port) const;
};

}  // namespace espalier
