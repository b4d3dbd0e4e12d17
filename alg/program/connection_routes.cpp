#include "alg/program/connection_routes.h"

#include <algorithm>
#include <stdexcept>

#include "alg/routes/routing.h"

namespace espalier {

namespace {

// The parallel link that is `channel` positions after `first` in port order, between the same two
// vertices.
LinkId parallel_link(const Topology& topology, LinkId first, std::uint32_t channel) {
  const TopologyLink& link = topology.link(first);
  std::vector<LinkId> parallel;
  std::size_t place = 0;
  for (const LinkId candidate : topology.out_links(link.from)) {
    if (topology.link(candidate).to != link.to) continue;
    if (candidate == first) place = parallel.size();
    parallel.push_back(candidate);
  }
  return parallel[(place + channel) % parallel.size()];
}

}  // namespace

std::vector<LinkId> connection_route(const Topology& topology, NodeId from, NodeId to,
                                     std::uint32_t channel) {
  if (from == to) throw std::invalid_argument("a connection needs two different ends");
  std::vector<LinkId> route = route_packet(topology, from, to, channel);
  if (route.size() == 1) route.front() = parallel_link(topology, route.front(), channel);
  return route;
}

}  // namespace espalier
