// Routes of a GPU cluster (hw/topology/gpu_cluster.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// Within a server by its switch; to another server by a NIC of the source's group, the fabric and a
// NIC of the destination's group. A GPU's NIC is that of number (its place in the group + channel)
// mod nics_per_group in its group. All routes go up, then down, so one VC class is free of
// deadlock. Precondition: topology.cluster(), two different nodes.
[[nodiscard]] std::vector<LinkId> cluster_route(const Topology& topology, NodeId from, NodeId to,
                                                std::uint32_t channel);

}  // namespace espalier
