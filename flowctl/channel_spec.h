#pragma once

#include <cstdint>

#include "flowctl/message.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"

namespace espalier {

struct ChannelSpec {
  std::uint32_t vcs = 1;  // 1 to 32
  std::uint32_t vc_depth_flits = 1;
  Cycle credit_latency = 1;  // flit leaves the buffer -> sender sees the credit, >= 1
  Cycle receiver_pipeline =
      0;  // a flit that arrives in cycle a may leave from a + receiver_pipeline
  Tick ticks_per_cycle = 1;
  // VCs set aside for control messages: their buffers may be shallower.
  VcMask control_vcs = 0;
  std::uint32_t control_vc_depth_flits = 0;

  [[nodiscard]] std::uint32_t depth_of(std::uint32_t vc) const {
    return (control_vcs >> vc & 1U) != 0 ? control_vc_depth_flits : vc_depth_flits;
  }
};

}  // namespace espalier
