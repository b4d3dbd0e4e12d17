// What a configured system is made of, as the cost model sees it. No workload reaches it: neither
// the collective nor its size.
#pragma once

#include "hw/cost/system_cost.h"
#include "hw/topology.h"
#include "sims/config/config.h"

namespace espalier {

// `topology` was built from `system`, and is not folded. Every router with its ports: links, and
// where its vertex has an NI as many injection and ejection ports as that has. "auto" is what any
// algorithm can use: system.ni.ports as many as the node has links, system.ni.table_entries two per
// node (MultiTree, section V-A).
[[nodiscard]] SystemShape system_shape(const SystemConfig& system, const Topology& topology);

// Op, FlowID, Parent, Children, Step, Start Addr, Size; and 21 bits of state, which makes it the
// paper's 200 bits at 64 nodes of 4 links.
[[nodiscard]] std::uint32_t table_entry_bits(std::size_t nodes, std::size_t links);

}  // namespace espalier
