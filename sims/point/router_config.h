// Sections system.router and system.flow_control.
#pragma once

#include <cstdint>

#include "flowctl/virtual_channels.h"
#include "hw/ids.h"
#include "router/router_spec.h"

namespace espalier {

struct RouterConfig {
  std::uint32_t vcs = 4;
  std::uint32_t vc_depth_flits = 318;
  Cycle pipeline_cycles = 2;  // a flit that arrives in cycle a may leave from a + pipeline_cycles
  Switching switching = Switching::vct;
  SwitchHold hold = SwitchHold::packet;
  CrossbarInputs crossbar_inputs = CrossbarInputs::port;
  VcOrder vc_order = VcOrder::lowest;
  // "auto": the reader has computed the number (resolve_implied, sims/model/system_shape.h).
  bool pipeline_is_implied = true;
  bool depth_is_implied = true;
};

struct FlowControlConfig {
  FlowControlMode mode = FlowControlMode::message;
  Bytes payload_bytes = 256;       // of a packet; of a sub-packet in message mode
  Bytes sub_message_bytes = 4096;  // message mode
  // Packet mode: the last packet of a message is as long as the others.
  bool pad_last_packet = false;
};

}  // namespace espalier
