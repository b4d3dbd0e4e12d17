#pragma once

#include <vector>

#include "flowctl/channel.h"
#include "router/input_vc.h"
#include "router/switch_allocator.h"

namespace espalier {

// One input port: the buffers at the end of a channel.
struct InputUnit {
  InputUnit(Channel& in, std::uint32_t num_vcs) : channel(&in), vcs(num_vcs), arbiter(num_vcs) {}

  Channel* channel;
  std::vector<InputVc> vcs;
  VcMask streaming = 0;  // VCs that hold the switch
  RoundRobinArbiter arbiter;

  // VCs with a flit (under way or arrived) that wait for the switch.
  [[nodiscard]] VcMask waiting() const { return channel->occupied() & ~streaming; }
};

}  // namespace espalier
