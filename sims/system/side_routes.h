// Routes that are bound while the simulation runs. Each sequence of links is bound once.
#pragma once

#include <map>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"
#include "sims/system/fabric.h"

namespace espalier {

class SideRoutes {
 public:
  // Both must outlive this object.
  SideRoutes(const Topology& topology, Fabric& fabric)
      : topology_(topology), fabric_(fabric), routes_(topology) {}

  // Returns the route id for operations over these links. Throws std::invalid_argument if the route
  // has more hops than a flit can count.
  [[nodiscard]] RouteId bind(const std::vector<LinkId>& links) {
    const RouteId route =
        links.size() == 1 ? RouteSet::single(links.front()) : routes_.add(topology_, links);
    const auto known = bound_.find(route);
    if (known != bound_.end()) return known->second;
    return bound_.emplace(route, fabric_.bind_side(routes_, route)).first->second;
  }

 private:
  const Topology& topology_;
  Fabric& fabric_;
  RouteSet routes_;
  std::map<RouteId, RouteId> bound_;
};

}  // namespace espalier
