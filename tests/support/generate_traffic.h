// The messages of point-to-point traffic, all at once, as tests count them.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "alg/routes/routing.h"
#include "ni/operation.h"
#include "sims/system/traffic.h"

namespace espalier {

// With pattern `file`, returns the listed messages. With other patterns, returns the messages that
// become ready before config.end(), node by node; messages of a node ascend in time. Routes are
// added to `routes`. Preconditions: as for MessageDraws, and the loop is open.
inline std::vector<Operation> generate_traffic(const Topology& topology,
                                               const TrafficConfig& config,
                                               std::uint64_t flits_per_message, RouteSet& routes) {
  std::vector<TrafficMessage> messages = config.messages;
  if (config.pattern != TrafficPattern::file) {
    messages.clear();
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      MessageDraws draws(topology, config, flits_per_message, NodeId(n));
      while (const auto message = draws.next(config.end())) messages.push_back(*message);
    }
  }
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

}  // namespace espalier
