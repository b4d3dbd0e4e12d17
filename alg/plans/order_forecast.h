// The pre-simulation of section 4.6.2 (Themis): one NPU represents all, because all do the same,
// and its links are servers. It fixes the order in which every dimension starts its stages, before
// the collective runs; deterministic, integer, a few microseconds per stage.
//
// The model:
// - A dimension chooses when a place is free and a stage waits, among the stages that wait then;
// the
//   chosen stage takes its place at once and starts `arbitration` cycles later, and only then the
//   next one is chosen. Stages of several chunks that become ready in the same cycle arrive in
//   ascending chunk number; at the beginning all chunks do.
// - A link serves whole messages; messages of the stage that started first go first.
// - As all NPUs do the same, what an NPU receives from another arrives when what it sends in the
//   same step arrives there. A step waits for everything that the step before in its lane receives.
// - in_network: a second server models the way from the switch to the NPU, which begins when
//   the last message has reached the switch (the NPU whose turn comes last counts).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/stage_arbiter.h"
#include "hw/ids.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/link_timing.h"

namespace espalier {

// How long messages take in a dimension.
struct ForecastDimension {
  // Which messages share links: ring, those of a direction; fully_connected, those to a peer;
  // switched, all.
  DimensionShape shape = DimensionShape::switched;
  std::uint32_t links = 1;  // DimensionSpec::parallel_links: a message is spread over them evenly
  std::uint32_t flit_bytes = 16;
  Bytes payload_bytes = 256;  // of a packet
  bool message_mode = true;   // one head flit per message, else per packet
  Tick ticks_per_flit = 1;
  Tick ticks_per_cycle = 1;
  Cycle overhead = 1;  // of a message on idle links, issue to visible, less its serialization
  // in_network: the same of the way to the switch; `overhead` is that of the way from it.
  Cycle overhead_to_switch = 0;
};

struct ForecastSpec {
  std::vector<ForecastDimension> dimensions;
  ArbiterSpec arbiter;
  FlightSpec flight;
  Cycle arbitration = 1;  // from ready stage and free place to the stage's first operation
  Cycle reduction = 1;    // latency of the reduction unit, of an NPU and in a switch
};

struct Forecast {
  std::vector<std::vector<StageRef>> start_order;  // by dimension
  Cycle cycles = 0;                                // of the whole collective, predicted
};

// Preconditions: as many dimensions as the plan has, at least 1 place in flight. The plan's
// start_order is not looked at.
[[nodiscard]] Forecast forecast_order(const DimensionPlan& plan, const ForecastSpec& spec);

}  // namespace espalier
