#include "sims/system/traffic.h"

#include <map>
#include <utility>

#include "alg/routes/routing.h"
#include "hw/hash.h"

namespace espalier {

namespace {

class Destinations {
 public:
  Destinations(const Topology& topology, TrafficPattern pattern)
      : topology_(topology), pattern_(pattern) {}

  // Returns `source` if no message is sent.
  [[nodiscard]] NodeId of(NodeId source, std::uint64_t random) const {
    const std::size_t nodes = topology_.num_nodes();
    switch (pattern_) {
      case TrafficPattern::uniform:
        return NodeId((source.index() + 1 + random % (nodes - 1)) % nodes);
      case TrafficPattern::neighbor:
        return NodeId((source.index() + 1) % nodes);
      case TrafficPattern::bit_complement:
        return NodeId(nodes - 1 - source.index());
      case TrafficPattern::transpose: {
        const auto at = topology_.grid()->coordinates(source);
        return topology_.grid()->node_at({at[1], at[0]});
      }
      case TrafficPattern::file:
        break;  // its messages are listed, not drawn
    }
    return source;
  }

 private:
  const Topology& topology_;
  TrafficPattern pattern_;
};

std::vector<TrafficMessage> draw_messages(const Topology& topology, const TrafficConfig& config,
                                          std::uint64_t flits_per_message) {
  const Destinations destinations(topology, config.pattern);
  const double probability = config.injection_rate / static_cast<double>(flits_per_message);
  std::vector<TrafficMessage> messages;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId from(n);
    const std::uint64_t stream = mix(config.seed, n);
    for (Cycle cycle = 0; cycle < config.duration_cycles; ++cycle) {
      const std::uint64_t draw = mix(stream, cycle);
      if (unit_interval(draw) >= probability) continue;
      const NodeId to = destinations.of(from, mix(draw));
      if (to != from) messages.push_back({cycle, from, to, config.message_bytes});
    }
  }
  return messages;
}

std::vector<Operation> route(const Topology& topology, const std::vector<TrafficMessage>& messages,
                             RouteSet& routes) {
  std::map<std::pair<NodeId, NodeId>, RouteId> known_routes;
  std::vector<Operation> operations;
  operations.reserve(messages.size());
  for (const TrafficMessage& message : messages) {
    const auto [known, is_new] = known_routes.try_emplace({message.from, message.to});
    if (is_new) {
      known->second = routes.add(topology, route_packet(topology, message.from, message.to));
    }
    Operation operation;
    operation.ready = message.ready;
    operation.from = message.from;
    operation.to = message.to;
    operation.route = known->second;
    operation.bytes = message.bytes;
    operations.push_back(operation);
  }
  return operations;
}

}  // namespace

std::vector<Operation> generate_traffic(const Topology& topology, const TrafficConfig& config,
                                        std::uint64_t flits_per_message, RouteSet& routes) {
  if (config.pattern == TrafficPattern::file) return route(topology, config.messages, routes);
  return route(topology, draw_messages(topology, config, flits_per_message), routes);
}

}  // namespace espalier
