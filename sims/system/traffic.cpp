#include "sims/system/traffic.h"

#include <algorithm>

#include "hw/hash.h"

namespace espalier {

namespace {

// Streams of a node that are independent of mix(seed, node).
constexpr std::uint64_t kBurstStream = 0x62757273;
constexpr std::uint64_t kHotspotStream = 0x686f7473;

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

MessageDraws::MessageDraws(const Topology& topology, const TrafficConfig& config,
                           std::uint64_t flits_per_message, NodeId node)
    : topology_(topology),
      config_(config),
      node_(node),
      stream_(mix(config.seed, node.index())),
      probability_(config.injection_rate / static_cast<double>(flits_per_message)) {
  if (config.burst_messages == 0) return;
  // In a burst, one flit per cycle. Bursts and pauses have geometric lengths; the node is in a
  // burst in the share `injection_rate` of all cycles.
  const double load = config.injection_rate;
  probability_ = 1 / static_cast<double>(flits_per_message);
  burst_ends_ = probability_ / config.burst_messages;
  burst_begins_ = std::min(1.0, burst_ends_ * load / (1 - load));
  in_burst_ = unit_interval(mix(stream_, kBurstStream)) < load;
}

std::optional<TrafficMessage> MessageDraws::next(Cycle end) {
  while (cycle_ < end) {
    const Cycle ready = cycle_++;
    const std::uint64_t draw = mix(stream_, ready);
    if (!generates(draw)) continue;
    const NodeId to = destination(mix(draw));
    if (to != node_) return TrafficMessage{ready, node_, to, config_.message_bytes};
  }
  return std::nullopt;
}

bool MessageDraws::generates(std::uint64_t draw) {
  const bool was_in_burst = in_burst_;
  if (config_.burst_messages != 0) {
    const double changes = in_burst_ ? burst_ends_ : burst_begins_;
    if (unit_interval(mix(draw, kBurstStream)) < changes) in_burst_ = !in_burst_;
  }
  return was_in_burst && unit_interval(draw) < probability_;
}

// Returns the node itself if it sends no message.
NodeId MessageDraws::destination(std::uint64_t random) const {
  const std::size_t nodes = topology_.num_nodes();
  const auto uniform = [&] { return NodeId((node_.index() + 1 + random % (nodes - 1)) % nodes); };
  switch (config_.pattern) {
    case TrafficPattern::uniform:
      return uniform();
    case TrafficPattern::neighbor:
      return NodeId((node_.index() + 1) % nodes);
    case TrafficPattern::bit_complement:
      return NodeId(nodes - 1 - node_.index());
    case TrafficPattern::bit_reverse:
      return NodeId(bit_reversed(node_.index(), address_bits(nodes)));
    case TrafficPattern::shuffle:
      return NodeId(shuffled(node_.index(), address_bits(nodes)));
    case TrafficPattern::tornado:
      return tornado(topology_, node_);
    case TrafficPattern::transpose: {
      const auto at = topology_.grid()->coordinates(node_);
      return topology_.grid()->node_at({at[1], at[0]});
    }
    case TrafficPattern::hotspot: {
      const std::uint64_t draw = mix(random, kHotspotStream);
      if (unit_interval(draw) >= config_.hotspot_share) return uniform();
      return NodeId(config_.hotspots[mix(draw) % config_.hotspots.size()]);
    }
    case TrafficPattern::file:
    case TrafficPattern::sockets:
      break;  // no messages are drawn
  }
  return node_;
}

}  // namespace espalier
