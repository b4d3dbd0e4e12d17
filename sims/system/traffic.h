// Point-to-point messages, drawn at random: who sends to whom, and when.
#pragma once

#include <optional>

#include "hw/topology/topology.h"
#include "sims/point/traffic_config.h"

namespace espalier {

// The messages that one node generates. In every cycle the node draws whether a message becomes
// ready (probability: injection_rate / flits of a message), and the destination follows the
// pattern. Every node has a random stream of its own, derived from seed and node, so added nodes do
// not change the other streams.
class MessageDraws {
 public:
  // Preconditions: the pattern is not `file` and fits the topology (the configuration reader checks
  // this). The arguments outlive the draws.
  MessageDraws(const Topology& topology, const TrafficConfig& config,
               std::uint64_t flits_per_message, NodeId node);

  // The next message that becomes ready before cycle `end`; none if there is no such message. All
  // cycles up to its own, or up to `end`, have then been drawn.
  [[nodiscard]] std::optional<TrafficMessage> next(Cycle end);
  // The cycles before `cycle` are not drawn.
  void skip_to(Cycle cycle) { cycle_ = std::max(cycle_, cycle); }

 private:
  [[nodiscard]] bool generates(std::uint64_t draw);
  [[nodiscard]] NodeId destination(std::uint64_t random) const;

  const Topology& topology_;
  const TrafficConfig& config_;
  NodeId node_;
  std::uint64_t stream_;
  double probability_;       // of a message in a cycle, during a burst if there are bursts
  double burst_begins_ = 0;  // probabilities in a cycle
  double burst_ends_ = 0;
  bool in_burst_ = true;
  Cycle cycle_ = 0;
};

}  // namespace espalier
