// The routes that the stages of a dimension plan take: within a dimension, spread over its parallel
// links.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/dimension_plan.h"
#include "alg/route_set.h"
#include "hw/topology.h"

namespace espalier {

// `count` routes numbered from `first` on, one for each parallel link (or plane).
struct RouteBundle {
  RouteId first;
  std::uint32_t count = 0;
};

class DimensionRoutes {
 public:
  // Precondition: topology.dimensions(), of the plan's sizes.
  DimensionRoutes(const Topology& topology, const std::vector<PlannedDimension>& dimensions);

  // From `node` to its peer at coordinate `peer`; on a ring, to the neighbour that lane `lane`
  // sends to. The algorithm of the dimension sends there.
  [[nodiscard]] const RouteBundle& bundle(NodeId node, std::size_t dimension, std::uint32_t lane,
                                          std::uint32_t peer) const {
    const Slots& slots = slots_[dimension];
    return bundles_[node.index() * per_node_ + slots.first + (slots.by_lane ? lane : peer)];
  }
  [[nodiscard]] const RouteSet& routes() const { return routes_; }
  // Those that some stage uses, ascending.
  [[nodiscard]] std::vector<RouteId> used() const;

 private:
  struct Slots {
    std::size_t first = 0;
    bool by_lane = false;
  };
  RouteBundle bundle_to(const Topology& topology, NodeId node, std::size_t dimension,
                        std::uint32_t port, std::uint32_t peer, std::uint32_t count);

  RouteSet routes_;
  std::vector<Slots> slots_;  // by dimension, of a node's bundles
  std::size_t per_node_ = 0;
  std::vector<RouteBundle> bundles_;
};

}  // namespace espalier
