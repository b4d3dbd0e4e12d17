#include "alg/grid_links.h"
#include "alg/routing.h"

namespace espalier {

std::uint32_t vc_classes(const Topology& topology) {
  return topology.grid() && topology.grid()->wraps ? 2 : 1;
}

std::uint32_t vc_class_after(const Topology& topology, const RouteSet& routes, RouteId route,
                             std::size_t hop) {
  if (vc_classes(topology) == 1) return 0;
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

}  // namespace espalier
