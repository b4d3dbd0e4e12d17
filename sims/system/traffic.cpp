#include "sims/system/traffic.h"

#include <map>

#include "alg/routing.h"
#include "hw/hash.h"

namespace espalier {

namespace {

class Destinations {
 public:
  Destinations(const Topology& topology, TrafficPattern pattern)
      : topology_(topology), pattern_(pattern) {}

  // An equal source and destination means: no message.
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
    }
    return source;
  }

 private:
  const Topology& topology_;
  TrafficPattern pattern_;
};

}  // namespace

std::vector<Operation> generate_traffic(const Topology& topology, const TrafficConfig& config,
                                        std::uint64_t flits_per_message, RouteSet& routes) {
  const Destinations destinations(topology, config.pattern);
  const double probability = config.injection_rate / static_cast<double>(flits_per_message);
  std::map<std::pair<NodeId, NodeId>, RouteId> known_routes;
  std::vector<Operation> messages;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId from(n);
    const std::uint64_t stream = mix(config.seed, n);
    for (Cycle cycle = 0; cycle < config.duration_cycles; ++cycle) {
      const std::uint64_t draw = mix(stream, cycle);
      if (unit_interval(draw) >= probability) continue;
      const NodeId to = destinations.of(from, mix(draw));
      if (to == from) continue;
      const auto [route, is_new] = known_routes.try_emplace({from, to});
      if (is_new) route->second = routes.add(topology, route_packet(topology, from, to));
      Operation message;
      message.ready = cycle;
      message.from = from;
      message.to = to;
      message.route = route->second;
      message.bytes = config.message_bytes;
      messages.push_back(message);
    }
  }
  return messages;
}

}  // namespace espalier
