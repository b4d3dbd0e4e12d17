// Applies a configuration's faults to a network.
#pragma once

#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/faults_config.h"

namespace espalier {

[[nodiscard]] std::vector<LinkId> links_of(const Topology& topology, NodeId from, NodeId to);
// All links from one vertex of the fault to the other; empty if a vertex or a link is missing.
[[nodiscard]] std::vector<LinkId> links_of(const Topology& topology, const SlowLink& fault);

// The topology's links with their faults. Throws std::invalid_argument if a fault names a link that
// does not exist.
[[nodiscard]] std::vector<TopologyLink> faulty_links(const Topology& topology,
                                                     const FaultsConfig& faults);

// How much later than other hosts the node's host posts its first collective, because it is late or
// its clock is behind.
[[nodiscard]] Cycle host_delay(const FaultsConfig& faults, NodeId node);
// How far the node's lockstep clock is behind. This delays later collectives too.
[[nodiscard]] Cycle skew_of(const FaultsConfig& faults, NodeId node);
// Additional cycles of the node's lockstep down-counter in each step.
[[nodiscard]] Cycle skew_per_step(const FaultsConfig& faults, NodeId node);
// The largest additional latency of a read of the node's DMA engine.
[[nodiscard]] Cycle jitter_of(const FaultsConfig& faults, NodeId node);

// The first kind of fault in the configuration, with the reason why one node cannot stand for all
// nodes ("faults.late_nis: ..."); empty if there are no faults.
[[nodiscard]] std::string uneven_fault(const FaultsConfig& faults);

}  // namespace espalier
