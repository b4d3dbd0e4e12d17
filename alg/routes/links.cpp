#include "alg/routes/links.h"

#include <algorithm>

namespace espalier {

bool is_even_grid(const Topology& topology) {
  if (!topology.grid()) return false;
  std::vector<std::uint64_t> rates(topology.grid()->dims.size(), 0);
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    std::uint64_t& rate = rates[grid_hop(topology, LinkId(l)).dim];
    const std::uint64_t own = topology.link(LinkId(l)).spec.bytes_per_second;
    if (rate != 0 && rate != own) return false;
    rate = own;
  }
  return true;
}

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

std::vector<std::size_t> distances_from(const Topology& topology, NodeId from,
                                        const std::function<bool(LinkId)>& uses) {
  std::vector<std::size_t> distance(topology.num_vertices(), kUnreached);
  std::vector<NodeId> queue{from};
  distance[from.index()] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeId v = queue[head];
    for (const LinkId link : topology.out_links(v)) {
      const NodeId to = topology.link(link).to;
      if (distance[to.index()] != kUnreached || (uses && !uses(link))) continue;
      distance[to.index()] = distance[v.index()] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

std::uint32_t most_links_of_a_node(const Topology& topology, const std::vector<bool>& relays) {
  std::size_t most = 1;
  for (std::size_t v = 0; v < std::max(topology.num_nodes(), relays.size()); ++v) {
    if (v >= topology.num_nodes() && !relays[v]) continue;
    most =
        std::max({most, topology.in_links(NodeId(v)).size(), topology.out_links(NodeId(v)).size()});
  }
  return static_cast<std::uint32_t>(most);
}

std::size_t longest_distance(const Topology& topology) {
  std::size_t longest = 0;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const auto distance = distances_from(topology, NodeId(n));
    for (std::size_t m = 0; m < topology.num_nodes(); ++m) longest = std::max(longest, distance[m]);
  }
  return longest;
}

}  // namespace espalier
