// What kept a message, beyond what it takes over an idle, healthy network.
#pragma once

#include <array>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/link_timing.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/record/run_record.h"
#include "sims/point/config.h"

namespace espalier {

struct UnloadedNetwork {
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
[[nodiscard]] CyclesByKind idle_latency(const UnloadedNetwork& network,
                                        const MessageRecord& message);

struct Delay {
  Segment cause;     // where most of it was; its cycles are those of that place
  Cycle cycles = 0;  // more than on an idle network, of that kind; 0: there is no delay
};
// The largest, of a message that took `segments`.
[[nodiscard]] Delay largest_delay(const std::vector<Segment>& segments, const CyclesByKind& idle);

}  // namespace espalier
