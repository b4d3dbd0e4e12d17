// Multi-dimensional systems: every NPU has a network of its own kind in each dimension, as the
// hierarchical systems of Themis (ISCA 2022, Fig. 1 and Table 2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "hw/link_spec.h"

namespace espalier {

enum class DimensionShape : std::uint8_t {
  ring,             // links in both directions, half of an NPU's links each
  fully_connected,  // every peer over links / (size - 1) links of its own
  switched          // `links` planes, each one switch with one link to every NPU of the group; or
                    // one switch with all of them (DimensionSpec::one_switch)
};

// One dimension. The NPUs that differ in nothing but their coordinate here are a group: they share
// one network of this shape and use it for nothing else.
struct DimensionSpec {
  DimensionShape shape = DimensionShape::ring;
  std::uint32_t size = 2;   // NPUs of a group, P_K
  std::uint32_t links = 2;  // that leave an NPU; ring: even, fully_connected: multiple of size - 1
  LinkSpec link;            // each of them; its flits are as wide as this dimension's network
  // switched: of the links back to the NPUs, where two equal ones do not add up; 0: link's own.
  std::uint64_t from_switch_latency_ps = 0;
  // switched: the switch of a group adds and copies (DimensionAlgorithm::in_network). It is one
  // switch for all links of its NPUs, not a plane for each: what adds a message has to get all of
  // its stripes.
  bool one_switch = false;

  // What an NPU can send here, bytes per second.
  [[nodiscard]] std::uint64_t bytes_per_second() const { return links * link.bytes_per_second; }
  // Links that leave an NPU for different places: 2 on a ring, size - 1 fully connected, 1 on a
  // switch; `links` is a multiple of it.
  [[nodiscard]] std::uint32_t directions() const;
  // Parallel links to one neighbour (ring: on either side), or planes.
  [[nodiscard]] std::uint32_t parallel_links() const { return links / directions(); }
  // Switches of a group.
  [[nodiscard]] std::uint32_t planes() const;
};

// Links from one NPU to another of its group.
[[nodiscard]] constexpr std::uint32_t hops_in(DimensionShape shape) {
  return shape == DimensionShape::switched ? 2 : 1;
}
// The fewest links that an NPU may have; more are multiples of it. Precondition: size >= 2.
[[nodiscard]] std::uint32_t fewest_links(DimensionShape shape, std::uint32_t size);

// Kept beside the graph of such a system. Node id = x1 + P1 * (x2 + P2 * ...). A node's links are
// numbered dimension by dimension; within one: ring, those to x+1, then those to x-1;
// fully_connected, those to x+1, then to x+2, ... (modulo its size); switched, plane by plane.
// Incoming links alike, from x-1 (then x+1), from x-1, x-2, ..., and plane by plane. The links of
// one_switch are numbered alike at the NPU, at the switch NPU by NPU.
struct DimensionedShape {
  std::vector<DimensionSpec> dimensions;

  [[nodiscard]] std::size_t num_nodes() const;
  // Nodes between two neighbours in dimension `d`: P_1 * ... * P_(d-1).
  [[nodiscard]] std::uint32_t stride(std::size_t d) const;
  [[nodiscard]] std::uint32_t coordinate(NodeId node, std::size_t d) const {
    return node.value() / stride(d) % dimensions[d].size;
  }
  // The node of the same group in dimension `d` whose coordinate there is `x`.
  [[nodiscard]] NodeId peer(NodeId node, std::size_t d, std::uint32_t x) const;
  // Port of a node's first link in dimension `d`, outgoing and incoming.
  [[nodiscard]] std::uint32_t first_port(std::size_t d) const;
  [[nodiscard]] std::size_t dimension_of_port(std::uint32_t port) const;
};

}  // namespace espalier
