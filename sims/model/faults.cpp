#include "sims/model/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "hw/topology/vertex_names.h"

namespace espalier {

std::vector<LinkId> links_of(const Topology& topology, const SlowLink& fault) {
  const NodeId from = find_vertex(topology, fault.from);
  const NodeId to = find_vertex(topology, fault.to);
  if (!from.valid() || !to.valid()) return {};
  return links_of(topology, from, to);
}

std::vector<LinkId> links_of(const Topology& topology, NodeId from, NodeId to) {
  std::vector<LinkId> links;
  for (const LinkId link : topology.out_links(from)) {
    if (topology.link(link).to == to) links.push_back(link);
  }
  return links;
}

std::vector<TopologyLink> faulty_links(const Topology& topology, const FaultsConfig& faults) {
  std::vector<TopologyLink> links = topology.links();
  for (const SlowLink& fault : faults.slow_links) {
    const std::vector<LinkId> slow = links_of(topology, fault);
    if (slow.empty()) {
      throw std::invalid_argument(
          fmt::format("faults.slow_links: no link from {} to {}", fault.from, fault.to));
    }
    for (const LinkId id : slow) {
      LinkSpec& spec = links[id.index()].spec;
      if (fault.bytes_per_second != 0) spec.bytes_per_second = fault.bytes_per_second;
      if (fault.latency_ps != 0) spec.latency_ps = fault.latency_ps;
    }
  }
  return links;
}

namespace {

// The fault of a node; nullptr if the node has none.
template <class Fault>
const Fault* fault_at(const std::vector<Fault>& faults, NodeId node) {
  const auto found = std::find_if(faults.begin(), faults.end(),
                                  [&](const Fault& fault) { return fault.node == node.value(); });
  return found == faults.end() ? nullptr : &*found;
}

}  // namespace

Cycle host_delay(const FaultsConfig& faults, NodeId node) {
  const LateNi* late = fault_at(faults.late_nis, node);
  return (late == nullptr ? 0 : late->cycles) + skew_of(faults, node);
}

Cycle skew_of(const FaultsConfig& faults, NodeId node) {
  const ClockSkew* skew = fault_at(faults.clock_skew, node);
  return skew == nullptr ? 0 : skew->cycles;
}

Cycle skew_per_step(const FaultsConfig& faults, NodeId node) {
  const ClockSkew* skew = fault_at(faults.clock_skew, node);
  return skew == nullptr ? 0 : skew->per_step;
}

Cycle jitter_of(const FaultsConfig& faults, NodeId node) {
  if (!faults.dma_jitter) return 0;
  const auto& nodes = faults.dma_jitter->nodes;
  const bool has_it =
      nodes.empty() || std::find(nodes.begin(), nodes.end(), node.value()) != nodes.end();
  return has_it ? faults.dma_jitter->max_cycles : 0;
}

std::string uneven_fault(const FaultsConfig& faults) {
  if (!faults.slow_links.empty()) return "faults.slow_links (a link differs from the other links)";
  if (!faults.late_nis.empty()) return "faults.late_nis (a node is late)";
  if (!faults.clock_skew.empty()) return "faults.clock_skew (the clock of a node differs)";
  if (faults.dma_jitter && faults.dma_jitter->max_cycles != 0) {
    return "faults.dma_jitter (each DMA engine has its own delays)";
  }
  return {};
}

}  // namespace espalier
