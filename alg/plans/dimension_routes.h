// The routes of the stages of a dimension plan: within a dimension, spread over its parallel links.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

// `count` routes numbered from `first` on, one for each parallel link (or plane).
struct RouteBundle {
  RouteId first;
  std::uint32_t count = 0;
};

class DimensionRoutes {
 public:
  // Precondition: topology.dimensions(), with the sizes of the plan.
  DimensionRoutes(const Topology& topology, const std::vector<PlannedDimension>& dimensions);

  // The routes from `node` to its peer at coordinate `peer`. On a ring: to the neighbour to which
  // lane `lane` sends. in_network: to the switch, for any peer. Precondition: the dimension's
  // algorithm sends to this peer.
  [[nodiscard]] const RouteBundle& bundle(NodeId node, std::size_t dimension, std::uint32_t lane,
                                          std::uint32_t peer) const {
    const Range& range = ranges_[dimension];
    const std::uint32_t place = range.by_lane ? lane : range.to_switch ? 0 : peer;
    return bundles_[node.index() * per_node_ + range.first + place];
  }
  // in_network: the routes from the switch to `node`.
  [[nodiscard]] const RouteBundle& from_switch(NodeId node, std::size_t dimension) const {
    return bundles_[node.index() * per_node_ + ranges_[dimension].first + 1];
  }
  [[nodiscard]] const RouteSet& routes() const { return routes_; }
  // The routes that are used by some stage, ascending.
  [[nodiscard]] std::vector<RouteId> used() const;

 private:
  struct Range {
    std::size_t first = 0;
    bool by_lane = false;
    bool to_switch = false;  // in_network: one bundle to the switch, and one back
  };
  RouteBundle bundle_to(const Topology& topology, NodeId node, std::size_t dimension,
                        std::uint32_t port, std::uint32_t peer, std::uint32_t count);
  // The bundle of consecutive links, each of which is a route of its own.
  [[nodiscard]] static RouteBundle single_links(const std::vector<LinkId>& links,
                                                std::uint32_t first, std::uint32_t count);

  RouteSet routes_;
  std::vector<Range> ranges_;  // by dimension: which of a node's bundles belong to it
  std::size_t per_node_ = 0;
  std::vector<RouteBundle> bundles_;
};

}  // namespace espalier
