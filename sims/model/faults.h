// What a configuration's faults are in a network.
#pragma once

#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/faults_config.h"

namespace espalier {

// As a configuration names it: a node's number or a vertex's name. An invalid id where there is
// none.
[[nodiscard]] NodeId find_vertex(const Topology& topology, const std::string& written);

// All links from the one vertex to the other; empty where a vertex or a link is missing.
[[nodiscard]] std::vector<LinkId> links_of(const Topology& topology, const SlowLink& fault);

// The topology's links as they are in faulty hardware. Throws std::invalid_argument where a fault
// names no link.
[[nodiscard]] std::vector<TopologyLink> faulty_links(const Topology& topology,
                                                     const FaultsConfig& faults);

// How much later than others the node's host posts its first collective: it is late, its clock is
// behind.
[[nodiscard]] Cycle host_delay(const FaultsConfig& faults, NodeId node);
// How far the node's lockstep clock is behind, which delays later collectives, too.
[[nodiscard]] Cycle skew_of(const FaultsConfig& faults, NodeId node);
// What its lockstep down-counter takes longer in each step.
[[nodiscard]] Cycle skew_per_step(const FaultsConfig& faults, NodeId node);
// The longest that a read of the node's DMA engine may take beyond its time.
[[nodiscard]] Cycle jitter_of(const FaultsConfig& faults, NodeId node);

// The first kind of fault that there is, with the reason why one node does not stand for all
// ("faults.late_nis: ..."); empty where everything is healthy.
[[nodiscard]] std::string uneven_fault(const FaultsConfig& faults);

}  // namespace espalier
