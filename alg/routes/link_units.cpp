#include "alg/routes/link_units.h"

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

std::vector<std::uint32_t> two_way_link_units(const Topology& topology) {
  const std::vector<std::uint32_t> one_way = link_units(topology);
  std::vector<std::uint32_t> units = one_way;
  for (std::size_t l = 0; l < units.size(); ++l) {
    const LinkId back = link_back(topology, LinkId(l));
    if (back.valid()) units[l] = std::min(units[l], one_way[back.index()]);
  }
  return units;
}

LinkId link_back(const Topology& topology, LinkId there) {
  const TopologyLink& link = topology.link(there);
  std::size_t place = 0;
  for (const LinkId l : topology.out_links(link.from)) {
    if (l == there) break;
    if (topology.link(l).to == link.to) ++place;
  }
  for (const LinkId l : topology.out_links(link.to)) {
    if (topology.link(l).to == link.from && place-- == 0) return l;
  }
  return {};
}

}  // namespace espalier
