#pragma once

#include <cstdint>

#include "hw/ids.h"
#include "hw/link_timing.h"

namespace espalier {

struct ChannelSpec {
  std::uint32_t vcs = 1;  // 1 to 32
  std::uint32_t vc_depth_flits = 1;
  Cycle credit_latency = 1;  // flit leaves the buffer -> sender sees the credit, >= 1
  Cycle receiver_pipeline =
      0;  // a flit that arrives in cycle a may leave from a + receiver_pipeline
  Tick ticks_per_cycle = 1;
};

}  // namespace espalier
