// Plans the waves of messages that switches store (RateRule::own).
#pragma once

#include <vector>

#include "alg/packing/wave_plan.h"

namespace espalier {

// A message that fits into a VC buffer passes each link at the link's own rate: the buffer stores
// data that come faster than they leave, and a packet from a slower link waits until it streams
// without a gap (router_rules.h). So every link gives a slot of its own length, no earlier than the
// data can be there. A later slot keeps the message in the buffer; a message takes the slots with
// which it waits there least. The period is the time of the busiest link.
//
// Only NIs keep their slots. Behind the NIs, messages share links packet by packet, so a message
// may come about a slot late. The plan leaves that time before other messages need its data.
// Precondition: every op has a share of 1.
[[nodiscard]] WavePlan plan_stored_wave(const Topology& topology, const RouteSet& routes,
                                        const std::vector<WaveOp>& ops, Bytes segment,
                                        const MessageTiming& timing);

}  // namespace espalier
