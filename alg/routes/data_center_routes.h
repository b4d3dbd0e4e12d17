// Routes of a data centre (hw/topology/data_center.h).
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// Up to the lowest level that both ends share, then down. Equal-cost multi-path (ECMP): among
// parallel uplinks and ways down each switch chooses by a hash of source, destination, `channel`
// and the shape's seed, as of a connection's addresses and ports, so that a pair of ends keeps its
// path. The ends are nodes, or ToR switches for other tenants' hosts behind them. All routes go up,
// then down, so one VC class is free of deadlock. Precondition: topology.data_center(), two
// different ends.
[[nodiscard]] std::vector<LinkId> data_center_route(const Topology& topology, NodeId from,
                                                    NodeId to, std::uint32_t channel = 0);

}  // namespace espalier
