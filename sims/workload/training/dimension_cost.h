// Time of communication on a multi-dimensional system in closed form.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "hw/topology/dimensions.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// The dimensions in which `group` extends, reduced to the group's part. Part of a switched
// dimension keeps its bandwidth. In part of a fully connected dimension, an NPU uses only the links
// to that part.
[[nodiscard]] std::vector<PlannedDimension> planned_for(
    const LogicalGroup& group, const std::vector<DimensionSpec>& dimensions,
    const std::vector<PlannedDimension>& planned);

// The properties of a multi-dimensional system that the costs depend on.
struct CostSystem {
  std::vector<DimensionSpec> dimensions;
  std::vector<PlannedDimension> planned;
};

// The paper's Ideal: all bytes at the summed bandwidth of the group's dimensions. An all_to_all
// counts the bytes of its stages, see all_to_all_ns().
[[nodiscard]] double ideal_ns(const CommunicationOp& op, const LogicalGroup& group,
                              const CostSystem& system);

// An all_to_all has no plan: it passes the dimensions one after the other, pipelined in `chunks`
// chunks. In each dimension of P NPUs, an NPU sends S (P - 1) / P of its S bytes directly to its
// peers.
[[nodiscard]] double all_to_all_ns(Bytes bytes, const LogicalGroup& group, const CostSystem& system,
                                   std::uint32_t chunks);

}  // namespace espalier
