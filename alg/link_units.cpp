#include "alg/link_units.h"

#include <algorithm>

namespace espalier {

std::vector<std::uint32_t> link_units(const Topology& topology) {
  std::uint64_t slowest = ~std::uint64_t{0};
  for (const TopologyLink& link : topology.links()) {
    slowest = std::min(slowest, link.spec.bytes_per_second);
  }
  std::vector<std::uint32_t> units;
  units.reserve(topology.num_links());
  for (const TopologyLink& link : topology.links()) {
    units.push_back(
        slowest == 0 ? 1 : static_cast<std::uint32_t>(link.spec.bytes_per_second / slowest));
  }
  return units;
}

}  // namespace espalier
