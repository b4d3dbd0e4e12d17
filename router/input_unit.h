#pragma once

#include <vector>

#include "flowctl/channel.h"
#include "flowctl/vc_choice.h"
#include "router/switch_allocator.h"

namespace espalier {

// What an input VC knows of the packet (in message mode: the message) at its front.
struct InputVc {
  bool routed = false;           // route computation done: out and permitted are valid
  bool inside_packet = false;    // its first flit has left, its last one has not
  std::uint16_t out = 0;         // output port
  VcMask permitted = 0;          // VCs behind it
  std::uint32_t out_vc = kNoVc;  // the one it owns
};

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
