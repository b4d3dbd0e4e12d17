#include "alg/schedule/translations.h"

namespace espalier {

NodeId Translations::combine(NodeId a, NodeId b, bool minus) const {
  std::uint32_t rest_a = a.value();
  std::uint32_t rest_b = b.value();
  std::uint32_t place = 1;
  std::uint32_t result = 0;
  for (const std::uint32_t size : dims_) {
    const std::uint32_t x = rest_a % size;
    const std::uint32_t y = rest_b % size;
    const std::uint32_t sum = minus ? x + size - y : x + y;
    result += place * (sum >= size ? sum - size : sum);
    place *= size;
    rest_a /= size;
    rest_b /= size;
  }
  return NodeId(result);
}

std::optional<Translations> Translations::find(const Topology& topology) {
  const std::size_t nodes = topology.num_nodes();
  if (topology.num_switches() != 0 || nodes < 2) return std::nullopt;
  // Without coordinates the cyclic group is tried.
  Translations group(topology.grid()
                         ? topology.grid()->dims
                         : std::vector<std::uint32_t>{static_cast<std::uint32_t>(nodes)},
                     nodes);
  for (const LinkId l : topology.out_links(NodeId(0))) {
    group.generators_.push_back(topology.link(l).to);
  }
  group.place_of_link_.resize(topology.num_links());
  for (std::size_t v = 0; v < nodes; ++v) {
    const auto& out = topology.out_links(NodeId(v));
    if (out.size() != group.generators_.size()) return std::nullopt;
    for (std::size_t port = 0; port < out.size(); ++port) {
      const TopologyLink& link = topology.link(out[port]);
      const LinkSpec& first = topology.link(topology.out_links(NodeId(0))[port]).spec;
      if (link.to != group.add(NodeId(v), group.generators_[port]) || !(link.spec == first)) {
        return std::nullopt;
      }
      group.place_of_link_[out[port].index()] = group.link_at_.size();
      group.link_at_.push_back(out[port]);
    }
  }
  return group;
}

}  // namespace espalier
