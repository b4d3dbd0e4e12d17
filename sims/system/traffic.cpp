#include "sims/system/traffic.h"

#include <algorithm>

#include "hw/hash.h"
#include "sims/model/traffic_pattern.h"

namespace espalier {

namespace {

// Streams of a node that are independent of mix(seed, node).
constexpr std::uint64_t kBurstStream = 0x62757273;
constexpr std::uint64_t kHotspotStream = 0x686f7473;

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
  const NodeId fixed = fixed_destination(config_.pattern, topology_, node_);
  if (fixed.valid()) return fixed;
  if (config_.pattern == TrafficPattern::hotspot) {
    const std::uint64_t draw = mix(random, kHotspotStream);
    if (unit_interval(draw) < config_.hotspot_share) {
      return NodeId(config_.hotspots[mix(draw) % config_.hotspots.size()]);
    }
  }
  const std::size_t nodes = topology_.num_nodes();
  return NodeId((node_.index() + 1 + random % (nodes - 1)) % nodes);
}

}  // namespace espalier
