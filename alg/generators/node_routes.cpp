#include "alg/generators/node_routes.h"

#include <fmt/format.h>

#include <algorithm>

#include "alg/routes/routing.h"

namespace espalier {

RouteId NodeRoutes::between(NodeId from, NodeId to) {
  RouteId& route = known_[from.index() * topology_.num_nodes() + to.index()];
  if (!route.valid()) route = routes_.add(topology_, route_packet(topology_, from, to));
  return route;
}

std::size_t messages_per_step(const Topology& topology) {
  std::size_t fewest = topology.num_nodes() - 1;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    fewest = std::min(
        {fewest, topology.out_links(NodeId(n)).size(), topology.in_links(NodeId(n)).size()});
  }
  return fewest;
}

std::string unsuited_for_routes(const Topology& topology) {
  if (topology.num_nodes() < 2) return "A collective needs at least two nodes.";
  const NodeId cut_off = topology.find_disconnected();
  if (cut_off.valid()) {
    return fmt::format("A collective needs a connected network; '{}' is cut off.",
                       topology.vertex_name(cut_off));
  }
  for (const TopologyLink& link : topology.links()) {
    if (!topology.link_between(link.to, link.from).valid()) {
      return fmt::format("Routes need links in both directions; '{}' to '{}' has none back.",
                         topology.vertex_name(link.from), topology.vertex_name(link.to));
    }
  }
  return {};
}

}  // namespace espalier
