#include "sims/model/traffic_pattern.h"

#include <cstdint>

namespace espalier {

namespace {

// Precondition: `nodes` is a power of two.
std::uint32_t address_bits(std::size_t nodes) {
  std::uint32_t bits = 0;
  while ((std::size_t{1} << bits) < nodes) ++bits;
  return bits;
}

std::size_t bit_reversed(std::size_t node, std::uint32_t bits) {
  std::size_t reversed = 0;
  for (std::uint32_t b = 0; b < bits; ++b) {
    if ((node >> b & 1) != 0) reversed |= std::size_t{1} << (bits - 1 - b);
  }
  return reversed;
}

// The address rotated left by one bit.
std::size_t shuffled(std::size_t node, std::uint32_t bits) {
  if (bits == 0) return node;
  return ((node << 1) | (node >> (bits - 1))) & ((std::size_t{1} << bits) - 1);
}

// Almost half way around, in each dimension.
NodeId tornado(const Topology& topology, NodeId source) {
  const auto& grid = *topology.grid();
  auto at = grid.coordinates(source);
  for (std::size_t d = 0; d < at.size(); ++d) {
    at[d] = (at[d] + (grid.dims[d] + 1) / 2 - 1) % grid.dims[d];
  }
  return grid.node_at(at);
}

}  // namespace

NodeId fixed_destination(TrafficPattern pattern, const Topology& topology, NodeId from) {
  const std::size_t nodes = topology.num_nodes();
  switch (pattern) {
    case TrafficPattern::neighbor:
      return NodeId((from.index() + 1) % nodes);
    case TrafficPattern::bit_complement:
      return NodeId(nodes - 1 - from.index());
    case TrafficPattern::bit_reverse:
      return NodeId(bit_reversed(from.index(), address_bits(nodes)));
    case TrafficPattern::shuffle:
      return NodeId(shuffled(from.index(), address_bits(nodes)));
    case TrafficPattern::tornado:
      return tornado(topology, from);
    case TrafficPattern::transpose: {
      const auto at = topology.grid()->coordinates(from);
      return topology.grid()->node_at({at[1], at[0]});
    }
    case TrafficPattern::uniform:
    case TrafficPattern::hotspot:
    case TrafficPattern::file:
    case TrafficPattern::sockets:
      break;
  }
  return {};
}

}  // namespace espalier
