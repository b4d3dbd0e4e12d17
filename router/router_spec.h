// The parameters of a router.
#pragma once

#include <cstdint>
#include <string>

#include "flowctl/virtual_channels.h"
#include "hw/topology/link_timing.h"

namespace espalier {

enum class SwitchHold : std::uint8_t {
  packet,  // the switch is held until the (sub-)packet's last flit has left
  flit,    // the switch is allocated anew for every flit, so packets on different VCs interleave
};

enum class CrossbarInputs : std::uint8_t {
  port,  // the VCs of an input port share one crossbar input
  vc,    // each VC has a crossbar input of its own
};

// Which stage of the switch allocator decides first. There is one iteration.
enum class SwitchAllocation : std::uint8_t {
  input_first,  // an input port picks one of its VCs, and an output picks one of the input ports
  // iSLIP (McKeown, 1999): VCs request all outputs, an output grants an input port, and an input
  // port accepts one of its grants. An output that an input port does not need stays usable.
  output_first,
};

struct RouterSpec {
  std::uint32_t vcs = 4;
  SwitchHold hold = SwitchHold::packet;
  CrossbarInputs crossbar_inputs = CrossbarInputs::port;
  VcOrder vc_order = VcOrder::lowest;
  Tick ticks_per_cycle = 1;
  bool has_control = false;  // some messages use the control lane
  SwitchAllocation allocation = SwitchAllocation::input_first;

  // If a packet holds a crossbar input that VCs share, a control packet behind it could miss every
  // cycle in which its output is free. So an input port makes one request for each lane, and the
  // crossbar input is multiplexed between the two granted packets. A control packet interrupts the
  // bulk packet once; later control packets wait for the bulk packet's tail.
  [[nodiscard]] bool has_lanes() const {
    return has_control && hold == SwitchHold::packet && crossbar_inputs == CrossbarInputs::port;
  }
};

// An input port. The link that ends there becomes a child module of the router, `<router>.<name>`.
struct InputPortSpec {
  std::string name;
  std::uint64_t link_number = 0;  // unique in the system
  LinkTiming timing;
  ChannelSpec channel;
};

}  // namespace espalier
