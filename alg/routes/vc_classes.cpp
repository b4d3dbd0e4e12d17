#include <algorithm>

#include "alg/routes/grid_links.h"
#include "alg/routes/routing.h"

namespace espalier {

namespace {

bool is_kind(const Topology& topology, SwitchedShape::Kind kind) {
  return topology.switched() && topology.switched()->kind == kind;
}

bool is_torus(const Topology& topology) { return topology.grid() && topology.grid()->wraps; }

std::uint32_t dateline_class(const Topology& topology, const RouteSet& routes, RouteId route,
                             std::size_t hop) {
  const GridHop last = grid_hop(topology, routes.link(route, hop));
  if (last.wraps) return 1;
  // Dimension order: the hops in this dimension directly precede this one.
  for (std::size_t h = hop; h-- > 0;) {
    const GridHop before = grid_hop(topology, routes.link(route, h));
    if (before.dim != last.dim) break;
    if (before.wraps) return 1;
  }
  return 0;
}

// Classes that only ever grow along a route cannot close a circle.
std::uint32_t switch_hop_class(const Topology& topology, const RouteSet& routes, RouteId route,
                               std::size_t hop) {
  std::uint32_t between_switches = 0;
  for (std::size_t h = 0; h <= hop; ++h) {
    const TopologyLink& link = topology.link(routes.link(route, h));
    if (topology.is_switch(link.from) && topology.is_switch(link.to)) ++between_switches;
  }
  return between_switches == 0 ? 0 : std::min(between_switches, vc_classes(topology)) - 1;
}

}  // namespace

std::uint32_t vc_classes(const Topology& topology) {
  if (is_torus(topology) || is_kind(topology, SwitchedShape::Kind::bigraph)) return 2;
  return is_kind(topology, SwitchedShape::Kind::dragonfly) ? 3 : 1;
}

std::uint32_t usable_vc_classes(const Topology& topology, std::uint32_t vcs) {
  return std::clamp(vcs, 1U, vc_classes(topology));
}

// BiGraph: the first of two hops within a side joins switches of one position, the second never
// does, so it waits for none that goes on. Dragonfly: a local link at a route's start waits for a
// global one, and that for a local link at the route's end. Were these local links in one class,
// the circle could close: A to B, B to C, C to A. The global ones may share a class with either.
// Between two groups all global traffic goes through one switch each: routes start towards it and
// end away from it.
std::uint32_t least_vc_classes(const Topology& topology) {
  if (is_torus(topology)) return 2;
  if (!is_kind(topology, SwitchedShape::Kind::dragonfly)) return 1;
  return topology.switched()->group_size > 1 && topology.switched()->groups() > 2 ? 2 : 1;
}

std::uint32_t vc_class_after(const Topology& topology, const RouteSet& routes, RouteId route,
                             std::size_t hop) {
  if (vc_classes(topology) == 1) return 0;
  return is_torus(topology) ? dateline_class(topology, routes, route, hop)
                            : switch_hop_class(topology, routes, route, hop);
}

}  // namespace espalier
