// Routes that are bound while the simulation runs. Each sequence of links is bound once.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/certify/channel_dependencies.h"
#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"
#include "sims/system/fabric.h"

namespace espalier {

class SideRoutes {
 public:
  // All must outlive this object. `waits`: collects what packets on the routes wait for; nullptr:
  // nobody asks.
  SideRoutes(const Topology& topology, Fabric& fabric, ChannelDependencies* waits = nullptr)
      : topology_(topology), fabric_(fabric), waits_(waits), routes_(topology) {}

  // Returns the route id for operations over these links. Throws std::invalid_argument if the route
  // has more hops than a flit can count.
  [[nodiscard]] RouteId bind(const std::vector<LinkId>& links) { return bind_bundle({links}); }
  // The first of the ids of several routes, over which messages are cut; the others follow it.
  [[nodiscard]] RouteId bind_bundle(const std::vector<std::vector<LinkId>>& bundle) {
    const RouteId first = routes_.add_bundle(topology_, bundle);
    const auto [place, is_new] = bound_.try_emplace(first);
    for (std::size_t r = 0; is_new && r < bundle.size(); ++r) {
      const RouteId route(first.index() + r);
      if (waits_ != nullptr) waits_->add(routes_, route);
      const RouteId bound = fabric_.bind_side(routes_, route);
      if (r == 0) place->second = bound;
    }
    return place->second;
  }
  // Throws std::invalid_argument if packets on the routes so far may wait for each other in a
  // circle, with `where` before its text.
  void certify(const char* where) const {
    const std::string circle = waits_ == nullptr ? "" : waits_->cycle(kLongestPrintedCycle);
    if (!circle.empty()) throw std::invalid_argument(where + circle);
  }

 private:
  const Topology& topology_;
  Fabric& fabric_;
  ChannelDependencies* waits_;
  RouteSet routes_;
  std::map<RouteId, RouteId> bound_;
};

}  // namespace espalier
