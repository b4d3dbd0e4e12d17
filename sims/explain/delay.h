// What kept a message, beyond what it takes over an idle, healthy network.
#pragma once

#include <array>
#include <vector>

#include "alg/route_set.h"
#include "hw/link_timing.h"
#include "sims/config/config.h"
#include "sims/explain/segment.h"
#include "sims/trace/run_record.h"

namespace espalier {

struct IdleNetwork {
  const SystemConfig& config;
  const SystemTiming& timing;  // healthy
  const RouteSet& routes;
};

// Cycles by kind of segment.
struct CyclesByKind {
  std::array<Cycle, kNumSegmentKinds> cycles{};

  [[nodiscard]] Cycle& of(SegmentKind kind) { return cycles[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Cycle of(SegmentKind kind) const { return cycles[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Cycle total() const;
};
[[nodiscard]] CyclesByKind cycles_by_kind(const std::vector<Segment>& segments);

// What a message takes there from its issue until it is in memory.
[[nodiscard]] CyclesByKind idle_latency(const IdleNetwork& network, const MessageRecord& message);

struct Delay {
  Segment cause;     // where most of it was; its cycles are those of that place
  Cycle cycles = 0;  // more than on an idle network, of that kind; 0: there is no delay
};
// The largest, of a message that took `segments`.
[[nodiscard]] Delay largest_delay(const std::vector<Segment>& segments, const CyclesByKind& idle);

}  // namespace espalier
