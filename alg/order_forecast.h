// The pre-simulation of section 4.6.2 (Themis): one NPU stands for all, because all do the same,
// and its links are servers. It fixes the order in which every dimension starts its stages, before
// the collective runs; deterministic, integer, a few microseconds per chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/dimension_plan.h"
#include "alg/stage_arbiter.h"
#include "hw/link_timing.h"

namespace espalier {

// How long messages take in a dimension.
struct ForecastDimension {
  std::uint32_t links = 1;  // parallel links that a message is spread over evenly
  std::uint32_t flit_bytes = 16;
  Bytes payload_bytes = 256;  // of a packet
  bool message_mode = true;   // one head flit per message, else per packet
  Tick ticks_per_flit = 1;
  Tick ticks_per_cycle = 1;
  Cycle overhead = 1;  // of a message on idle links, issue to visible, less its serialization
};

struct ForecastSpec {
  std::vector<ForecastDimension> dimensions;
  ArbiterSpec arbiter;
  std::uint32_t in_flight = 8;  // stages at once in each dimension
  Cycle arbitration = 1;        // from ready stage and free place to the stage's first operation
  Cycle reduction = 1;          // latency of the reduction unit
};

struct Forecast {
  std::vector<std::vector<StageRef>> start_order;  // by dimension
  Cycle cycles = 0;                                // of the whole collective, predicted
};

// Precondition: as many dimensions as the plan has; its start_order is not looked at.
[[nodiscard]] Forecast forecast_order(const DimensionPlan& plan, const ForecastSpec& spec);

}  // namespace espalier
