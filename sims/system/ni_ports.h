// NI ports of a node whose messages may take any of its links.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier {

// As many as the node with the most links has, unless the configuration says how many.
[[nodiscard]] inline std::uint32_t ni_ports_for_all_links(const Topology& topology,
                                                          const SystemConfig& system) {
  if (system.ni.ports != 0) return system.ni.ports;
  std::size_t most_links = 1;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    most_links = std::max(most_links, topology.out_links(NodeId(n)).size());
  }
  return static_cast<std::uint32_t>(most_links);
}

}  // namespace espalier
