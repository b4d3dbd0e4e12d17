// Derives the parameters of hardware and planners from the configuration of a multi-dimensional
// system. Preconditions: the topology is dimensional, and the system was read without errors.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/link_timing.h"
#include "sims/point/collective_config.h"

namespace espalier {

struct SystemConfig;

// Replaces every "auto" by its value, and latencies from NPU to NPU by latencies of links. A
// message of one head flit and at most one flit of payload, without contention, is visible at the
// other NPU exactly the configured time after its issue, rounded up to a cycle. This is the time of
// docs/timing.md: DMA, injection, a router's pipeline before each link and after the last link, the
// links, ejection, delivery, and the second flit's turn on the link. On a switch, two links share
// the time that NIs and routers do not take; if it is odd, the link to the switch has one cycle
// more. Throws std::invalid_argument if less than one cycle remains for a link.
[[nodiscard]] std::vector<DimensionSpec> dimension_specs(const SystemConfig& system);

[[nodiscard]] std::vector<PlannedDimension> planned_dimensions(const SystemConfig& system);

// VC depths of the routers' ports, by dimension.
[[nodiscard]] std::vector<std::uint32_t> dimension_vc_depths(const SystemConfig& system);

// Precondition: the algorithm is a planner.
[[nodiscard]] PlanRequest plan_request(const CollectiveConfig& collective);

// The functions below are for checks, before the configuration is known to be valid.

// The narrowest flit with which a link of this rate carries at most one flit per cycle.
[[nodiscard]] std::uint64_t narrowest_flit_bytes(std::uint64_t bytes_per_second,
                                                 const ClockSpec& clock);
// The part of the latency that NIs, routers and the second flit take, so that it is not left for
// links.
[[nodiscard]] Cycle cycles_beside_links(const SystemConfig& system, DimensionShape shape,
                                        std::uint64_t bytes_per_second, std::uint32_t flit_bytes);
// The first entry is "auto".
[[nodiscard]] std::vector<DimensionAlgorithm> fitting_algorithms(DimensionShape shape,
                                                                 std::uint32_t size);
// VC depth that covers the credit loop of a link of the dimension.
[[nodiscard]] std::uint64_t full_rate_depth_in(const SystemConfig& system,
                                               const DimensionSpec& dimension);

}  // namespace espalier
