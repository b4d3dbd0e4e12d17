// What a configured system is made of, as the cost model sees it.
#pragma once

#include <optional>

#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier {

// What a run needs of one node: of its table and of a dimension's queue, where that is more than
// the system has anyway, and the bits that coordinate its job.
struct RunNeed {
  std::uint32_t table_entries = 0;
  std::uint32_t entry_bits = 0;
  std::uint32_t queue_entries = 0;
  std::optional<ReadinessShape> readiness;
};
// As far as the configuration says: the chunks of its collective; where NIs coordinate a training
// job, its groups or tensors and the tree's children.
[[nodiscard]] RunNeed configured_need(const RunPoint& point);

// `topology` was built from `system`, and is not folded. Every router with its ports: links, and
// where its vertex has an NI as many injection and ejection ports as that has. "auto" is what any
// algorithm can use: system.ni.ports as many as the node has links, system.ni.table_entries two per
// node (MultiTree, section V-A), system.cost.queue_entries 64; but not less than `need`.
[[nodiscard]] SystemShape system_shape(const SystemConfig& system, const Topology& topology,
                                       const RunNeed& need = {});

// Op, FlowID, Parent, Children, Step, Start Addr, Size; and 21 bits of state, which makes it the
// paper's 200 bits at 64 nodes of 4 links.
[[nodiscard]] std::uint32_t table_entry_bits(std::size_t nodes, std::size_t links);

// Whether the configuration leaves latencies to the cost model: "auto".
[[nodiscard]] inline bool has_implied_cycles(const SystemConfig& system) {
  return system.router.pipeline_is_implied || system.ni.dimension_queue.arbitration_is_implied;
}

// Gives latencies that are "auto" the cycles that the system's routers and SCF finders take at its
// clock. `topology` is the system's, with any latencies in their place. The depth of VCs, where it
// is "auto", follows the pipeline, so that the model is asked until both agree.
void resolve_implied_cycles(SystemConfig& system, const Topology& topology, const RunNeed& need);

}  // namespace espalier
