// Plans the messages of trees without a period: every link, when it is free, sends the ready
// message with the highest priority. For networks without switches, where a link has one sender.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "alg/packing/wave_plan.h"

namespace espalier {

// The plan of `segments` copies of `ops`, copy by copy, each of `segment` bytes (a share of 1). The
// ready message with the longest remaining path goes first; a copy counts `lead_ps` more for every
// copy behind it, so with a long lead the copies pass one after the other. The lower
// copy wins ties. This is the machine's own time: a node alone feeds its links.
// Planning stops once the plan would take longer than `limit_ps`; the returned span is then a lower
// bound above the limit. Precondition: every route has one hop.
[[nodiscard]] WavePlan plan_list(
    const Topology& topology, const RouteSet& routes, const std::vector<WaveOp>& ops,
    std::uint32_t segments, Bytes segment, const MessageTiming& timing, std::uint64_t lead_ps,
    std::uint64_t limit_ps = std::numeric_limits<std::uint64_t>::max());

// The time that the data of `ops`, `bytes` each, take on the busiest link.
[[nodiscard]] std::uint64_t busiest_link_ps(const Topology& topology, const RouteSet& routes,
                                            const std::vector<WaveOp>& ops, Bytes bytes,
                                            const MessageTiming& timing);

}  // namespace espalier
