// Where a schedule slips: messages that took longer than they would have over an idle, healthy
// network, with what kept them, and NIs that began late.
#pragma once

#include <array>
#include <vector>

#include "alg/route_set.h"
#include "hw/link_timing.h"
#include "sims/config/config.h"
#include "sims/explain/message_index.h"
#include "sims/explain/message_walk.h"
#include "sims/explain/node_clock.h"
#include "sims/explain/segment.h"

namespace espalier {

struct Slip {
  std::uint32_t vertex = kNowhere;  // the NI that got it late, or was late
  RecordIndex message = kNowhere;   // none: the NI was late by itself
  Cycle cycles = 0;                 // more than on an idle network
  Segment cause;                    // the largest part of that, and how much
  Cycle cause_cycles = 0;
};

struct IdleNetwork {
  const SystemConfig& config;
  const SystemTiming& timing;  // healthy
  const RouteSet& routes;
};

// What a message takes there from its issue until it is in memory, by kind of segment.
struct IdleLatency {
  std::array<Cycle, kNumSegmentKinds> by_kind{};
  [[nodiscard]] Cycle total() const;
};
[[nodiscard]] IdleLatency idle_latency(const IdleNetwork& network, const MessageRecord& message);

// The `most` largest, largest first; equal ones by time.
[[nodiscard]] std::vector<Slip> worst_slips(const RunRecord& record, const MessageIndex& index,
                                            const MessageWalk& walk, const IdleNetwork& network,
                                            const std::vector<NodeClock>& clocks, std::size_t most);

}  // namespace espalier
