// Fabric: counts the events of routers, links and NIs.

#include "sims/system/fabric.h"

namespace espalier {

namespace {

// A router's counts by vertex and dimension.
class RouterCounts {
 public:
  RouterCounts(const Topology& topology, std::size_t dimensions)
      : topology_(topology), stride_(dimensions + 1), counts_(topology.num_vertices() * stride_) {}

  HardwareEvents::Router& at(NodeId vertex, std::uint32_t dimension) {
    return counts_[vertex.index() * stride_ + dimension];
  }

  [[nodiscard]] std::vector<HardwareEvents::Router> used() const {
    std::vector<HardwareEvents::Router> routers;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i].flits == 0) continue;
      HardwareEvents::Router router = counts_[i];
      router.vertex = NodeId(i / stride_);
      router.is_switch = topology_.is_switch(router.vertex);
      router.dimension = static_cast<std::uint32_t>(i % stride_);
      routers.push_back(router);
    }
    return routers;
  }

 private:
  const Topology& topology_;
  std::size_t stride_;
  std::vector<HardwareEvents::Router> counts_;
};

}  // namespace

std::uint32_t Fabric::dimension_of(LinkId link) const {
  return topology_.dimensions() ? static_cast<std::uint32_t>(topology_.dimension_of(link)) + 1 : 0;
}

Counters Fabric::counters() const {
  Counters sum = network_->counters();
  for (const auto& ni : nis_) {
    if (ni != nullptr) sum += ni->counters();
  }
  return sum;
}

HardwareEvents Fabric::events() const {
  const std::size_t dimensions =
      topology_.dimensions() ? topology_.dimensions()->dimensions.size() : 0;
  HardwareEvents events;
  events.link_flits.resize(dimensions + 1);
  events.injected_flits.resize(dimensions + 1);
  events.ejected_flits.resize(dimensions + 1);
  RouterCounts routers(topology_, dimensions);

  const std::vector<std::uint64_t> link_flits = network_->link_flits();
  for (std::size_t l = 0; l < link_flits.size(); ++l) {
    const std::uint32_t dimension = dimension_of(LinkId(l));
    events.link_flits[dimension] += link_flits[l];
    routers.at(topology_.link(LinkId(l)).to, dimension).flits += link_flits[l];
  }
  for_each_socket([&](const NiSocket& ni) {
    for (std::size_t p = 0; p < ni.num_ports(); ++p) {
      routers.at(ni.node(), 0).flits += ni.flits_sent(p);
      events.injected_flits[0] += ni.flits_sent(p);
    }
  });
  for (const auto& ni : nis_) {
    if (ni == nullptr) continue;
    const NodeId vertex = ni->node();
    const InjectionPorts& ports = ni->injection_ports();
    for (std::size_t p = 0; p < ports.size(); ++p) {
      // In a multi-dimensional system each port belongs to a link.
      const std::uint32_t dimension =
          dimensions == 0 ? 0 : dimension_of(topology_.out_links(vertex)[p]);
      const std::uint64_t flits =
          ports[p]->flits_sent(clock_.now()) + ports[p]->control_flits_sent();
      routers.at(vertex, dimension).flits += flits;
      if (!topology_.is_switch(vertex)) events.injected_flits[dimension] += flits;
    }
    if (!topology_.is_switch(vertex)) events.decisions += ni->decisions();
    events.added_bytes += ni->added_bytes();
  }

  const std::vector<PathUse>& uses = messages_.path_uses();
  for (std::uint32_t path = 0; path < uses.size(); ++path) {
    if (uses[path].packets == 0) continue;
    const std::uint64_t grants = is_granted_by_flit_ ? uses[path].flits : uses[path].packets;
    NodeId at = uses[path].from;
    if (!topology_.is_switch(at)) events.injected_packets += uses[path].packets;
    for (std::uint32_t hop = 0;; ++hop) {
      const std::size_t port = paths_.hop(path, hop).out_port;
      const auto& links = topology_.out_links(at);
      const bool ejects = port >= links.size();
      // In a multi-dimensional system, ejection ports belong to links too.
      const std::uint32_t dimension =
          dimensions == 0 ? 0 : dimension_of(links[ejects ? port - links.size() : port]);
      routers.at(at, dimension).packets += grants;
      if (ejects && !topology_.is_switch(at)) events.ejected_flits[dimension] += uses[path].flits;
      if (ejects) break;
      at = topology_.link(links[port]).to;
    }
  }
  events.routers = routers.used();
  return events;
}

}  // namespace espalier
