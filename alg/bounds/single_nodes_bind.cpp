#include "alg/bounds/single_nodes_bind.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace espalier {

namespace {

bool is_complete(const Topology& topology) {
  const std::size_t nodes = topology.num_nodes();
  if (topology.num_switches() != 0 || topology.num_links() != nodes * (nodes - 1)) return false;
  std::vector<std::size_t> seen_from(nodes, nodes);  // by node: the last one with a link to it
  for (std::size_t n = 0; n < nodes; ++n) {
    for (const LinkId id : topology.out_links(NodeId(n))) {
      std::size_t& seen = seen_from[topology.link(id).to.index()];
      if (seen == n) return false;
      seen = n;
    }
    if (topology.out_links(NodeId(n)).size() != nodes - 1) return false;
  }
  return true;
}

}  // namespace

bool single_nodes_bind(const Topology& topology) {
  const bool torus = topology.grid() && topology.grid()->wraps;
  if (!torus && !is_complete(topology)) return false;
  const LinkSpec& first = topology.links().front().spec;
  return std::all_of(topology.links().begin(), topology.links().end(),
                     [&](const auto& link) { return link.spec == first; });
}

}  // namespace espalier
