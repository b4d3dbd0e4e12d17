// From the configuration of a multi-dimensional system to what hardware and planners need of it.
// Preconditions: the topology is dimensional, and the system was read without errors.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "hw/topology/dimensions.h"
#include "sims/point/config.h"

namespace espalier {

// Every "auto" with its value, and the latencies from NPU to NPU as latencies of links: a message
// of one head flit and at most one flit of payload takes, from its issue to its visibility at the
// other NPU and with nothing in its way, exactly the configured time, rounded up to a cycle. That
// is the time of docs/timing.md: DMA, injection, a router's pipeline before each link and behind
// the last, the links, ejection, delivery, and the second flit's turn on the link. On a switch two
// links share what NIs and routers leave over, and the one to the switch has a cycle more where it
// is odd. Throws std::invalid_argument where less than a cycle is left for a link.
[[nodiscard]] std::vector<DimensionSpec> dimension_specs(const SystemConfig& system);

[[nodiscard]] std::vector<PlannedDimension> planned_dimensions(const SystemConfig& system);

// VC depths of the routers' ports, by dimension.
[[nodiscard]] std::vector<std::uint32_t> dimension_vc_depths(const SystemConfig& system);

// Precondition: the algorithm is a planner.
[[nodiscard]] PlanRequest plan_request(const CollectiveConfig& collective);

// What follows serves the checks, before the configuration is known to be good.

// Bytes of a flit of which a link of that rate carries at most one per cycle.
[[nodiscard]] std::uint64_t narrowest_flit_bytes(std::uint64_t bytes_per_second,
                                                 const ClockSpec& clock);
// What dimension_specs takes off the latency for NIs, routers and the second flit.
[[nodiscard]] Cycle cycles_beside_links(const SystemConfig& system, DimensionShape shape,
                                        std::uint64_t bytes_per_second, std::uint32_t flit_bytes);
// The first one is "auto".
[[nodiscard]] std::vector<DimensionAlgorithm> fitting_algorithms(DimensionShape shape,
                                                                 std::uint32_t size);
// VC depth that covers the credit loop of a dimension's links.
[[nodiscard]] std::uint64_t full_rate_depth_in(const SystemConfig& system,
                                               const DimensionSpec& dimension);

}  // namespace espalier
