// The pre-simulation of section 4.6.2 (Themis): one NPU represents all, because all do the same,
// and its links are servers. It fixes the order in which every dimension starts its stages, before
// the collective runs; deterministic, integer, a few microseconds per stage.
//
// The model:
// - When a place is free and stages wait, a dimension chooses one of them. The chosen stage takes
//   its place immediately and starts `arbitration` cycles later; only then the next stage is
//   chosen. Stages that become ready in the same cycle arrive in ascending chunk number; at the
//   beginning all chunks do.
// - A link serves whole messages. Messages of the stage that started first go first.
// - All NPUs do the same, so an NPU's messages of a step arrive at their receivers when the
//   messages to this NPU arrive. A step waits for all receives of the previous step in its lane.
// - in_network: a second server models the way from the switch to the NPU, which begins when the
//   last message has reached the switch: the message of the NPU whose turn comes last.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/stage_arbiter.h"
#include "hw/ids.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/link_timing.h"

namespace espalier {

// Message times in a dimension.
struct ForecastDimension {
  // Determines which messages share links. ring: messages of one direction; fully_connected:
  // messages to one peer; switched: all.
  DimensionShape shape = DimensionShape::switched;
  // DimensionSpec::parallel_links; a message is spread evenly over these links.
  std::uint32_t links = 1;
  std::uint32_t flit_bytes = 16;
  Bytes payload_bytes = 256;  // of a packet
  bool message_mode = true;   // one head flit per message, otherwise per packet
  Tick ticks_per_flit = 1;
  Tick ticks_per_cycle = 1;
  // Time of a message on idle links from issue to visible, without its serialization.
  Cycle overhead = 1;
  // in_network: the same for the way to the switch; `overhead` is then for the way from the switch.
  Cycle overhead_to_switch = 0;
};

struct ForecastSpec {
  std::vector<ForecastDimension> dimensions;
  ArbiterSpec arbiter;
  FlightSpec flight;
  Cycle arbitration = 1;  // from a ready stage and a free place to the stage's first operation
  Cycle reduction = 1;    // of the reduction unit of an NPU or in a switch
};

struct Forecast {
  std::vector<std::vector<StageRef>> start_order;  // by dimension
  Cycle cycles = 0;                                // predicted, for the whole collective
};

// Preconditions: as many dimensions as the plan, and at least 1 place in flight. The plan's
// start_order is ignored.
[[nodiscard]] Forecast forecast_order(const DimensionPlan& plan, const ForecastSpec& spec);

}  // namespace espalier
