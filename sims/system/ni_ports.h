// Ports of NIs that a point does not count.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/topology.h"
#include "sims/config/config.h"

namespace espalier {

// As configured; else as many as the node with the most links has.
[[nodiscard]] inline std::uint32_t ni_ports_for_all_links(const Topology& topology,
                                                          const RunPoint& point) {
  if (point.system.ni.ports != 0) return point.system.ni.ports;
  std::size_t most_links = 1;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    most_links = std::max(most_links, topology.out_links(NodeId(n)).size());
  }
  return static_cast<std::uint32_t>(most_links);
}

}  // namespace espalier
