#include "alg/program/connection_routes.h"

#include <stdexcept>

#include "alg/routes/routing.h"
#include "alg/schedule/schedule.h"

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

std::vector<Bytes> ConnectionRoutes::cut(Bytes bytes) const {
  constexpr Bytes kLeastPart = 256;
  const auto share_of = [&](std::size_t place) { return shares[place]; };
  std::vector<Bytes> parts;
  for (std::size_t count = size(); parts.empty() || (parts.back() < kLeastPart && count != 0);
       --count) {
    parts.clear();
    Bytes before = 0;
    for (std::size_t place = 0; place < count; ++place) {
      const Bytes end = end_of_part(bytes, count, place, share_of);
      parts.push_back(end - before);
      before = end;
    }
  }
  return parts;
}

ConnectionRoutes connection_routes(const Topology& topology, RouteSet& routes, NodeId from,
                                   NodeId to, std::uint32_t channel) {
  if (from == to) throw std::invalid_argument("a connection needs two different ends");
  auto parallel = parallel_routes(topology, from, to, channel);
  if (parallel.size() == 1) parallel = {connection_route(topology, from, to, channel)};
  ConnectionRoutes found{routes.add_bundle(topology, parallel), {}};
  for (std::size_t r = 0; r < parallel.size(); ++r) {
    found.shares.push_back(share_of_route(topology, routes, RouteId(found.first.index() + r)));
  }
  return found;
}

}  // namespace espalier
