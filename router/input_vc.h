#pragma once

#include <cstdint>

#include "flowctl/message.h"
#include "flowctl/modes.h"
#include "flowctl/vc_choice.h"

namespace espalier {

// What an input VC knows of the packet (in message mode: the message) at its front.
struct InputVc {
  bool routed = false;      // route computation done: out and permitted are valid
  bool is_control = false;  // of a control message
  Switching switching = Switching::vct;
  bool inside_packet = false;      // its first flit has left, its last one has not
  std::uint16_t out = 0;           // output port
  VcMask permitted = 0;            // VCs behind it
  std::uint32_t out_vc = kNoVc;    // the one it owns
  std::uint32_t packet_flits = 0;  // of the packet that leaves

  void route(const PathHop& hop) {
    routed = true;
    out = hop.out_port;
    permitted = hop.vcs;
  }
  void route(const PathHop& hop, const Message& message) {
    route(hop);
    is_control = message.is_control;
    switching = message.switching;
  }
};

}  // namespace espalier
