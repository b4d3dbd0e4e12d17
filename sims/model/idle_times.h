// Packets of messages, the buffers that keep a link busy, and the time of a message over
// an idle route.
#pragma once

#include <string>
#include <vector>

#include "alg/routes/route_set.h"
#include "flowctl/framing.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/link_timing.h"

namespace espalier {

struct RunPoint;
struct SystemConfig;

[[nodiscard]] FramingSpec framing_spec(const SystemConfig& config);
// The whole buffer in front of an injection port: single flits and full packets.
[[nodiscard]] std::uint32_t injection_buffer_flits(const SystemConfig& config);
// For messages in a dimension of a multi-dimensional system, where flits have another width.
[[nodiscard]] FramingSpec framing_spec(const SystemConfig& config, const DimensionSpec& dimension);

// Flits of the longest packet or sub-packet, its head flit included.
[[nodiscard]] std::uint64_t longest_packet_flits(const SystemConfig& system);

// VC depth with which a single stream over `link` never waits for credits: the flits and credits in
// flight during a round trip, plus the rest of a packet that must fit as a whole (the paper's 318
// flits). On a slower link fewer flits are in flight. `packet_flits` is the length of the longest
// packet, including its head flit.
[[nodiscard]] std::uint64_t full_rate_depth(const SystemConfig& system, const LinkSpec& link,
                                            std::uint64_t packet_flits);
[[nodiscard]] inline std::uint64_t full_rate_depth(const SystemConfig& system,
                                                   const LinkSpec& link) {
  return full_rate_depth(system, link, longest_packet_flits(system));
}

// The VC depth that is enough for every link.
[[nodiscard]] std::uint64_t full_rate_depth(const SystemConfig& system, const Topology& topology);
// The text of warnings and notes about the key of a VC depth that is not enough.
[[nodiscard]] std::string shallow_vcs_text(const std::string& key, std::uint64_t depth);

// Demand::held of a run (alg/bounds/certificate.h). Empty if crossbar inputs are not held, or if
// something else than the model or its rules for bulk messages may decide.
[[nodiscard]] std::vector<double> held_inputs(const RunPoint& point, const Topology& topology);

// Cycles from the issue of a message to the visibility of its last flit over an idle route, minus
// the serialization time.
[[nodiscard]] Cycle idle_overhead(const SystemConfig& config, const SystemTiming& timing,
                                  const RouteSet& routes, RouteId route);
// `latency`: the sum of the links' latencies.
[[nodiscard]] Cycle idle_overhead(const SystemConfig& config, std::size_t hops, Cycle latency);

}  // namespace espalier
