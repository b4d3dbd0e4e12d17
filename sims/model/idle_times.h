// Packets of messages, and the time of a message over an idle route.
#pragma once

#include "alg/routes/route_set.h"
#include "flowctl/framing.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/link_timing.h"

namespace espalier {

struct SystemConfig;

[[nodiscard]] FramingSpec framing_spec(const SystemConfig& config);
// The whole buffer in front of an injection port: single flits and full packets.
[[nodiscard]] std::uint32_t injection_buffer_flits(const SystemConfig& config);
// For messages in a dimension of a multi-dimensional system, where flits have another width.
[[nodiscard]] FramingSpec framing_spec(const SystemConfig& config, const DimensionSpec& dimension);

// Cycles from the issue of a message to the visibility of its last flit over an idle route, minus
// the serialization time.
[[nodiscard]] Cycle idle_overhead(const SystemConfig& config, const SystemTiming& timing,
                                  const RouteSet& routes, RouteId route);

}  // namespace espalier
