#pragma once

#include "flowctl/channel.h"
#include "flowctl/flit.h"

namespace espalier {

// One output port: who holds it, who owns the VCs behind it, when its next flit may depart. It
// leads to a neighbour (channel) or to an ejection port of the NI (sink), which takes flits at line
// rate and so needs no credits; its VCs still have owners, for body sub-packets can only be told
// apart by VC.
struct OutputUnit {
  Tick free_tick = 0;  // the wire is busy before it; the fraction survives from packet to packet
  Tick ticks_per_flit = 1;
  PacketSink* sink = nullptr;
  // While held: the input VC whose flits go to `out_vc`.
  ChannelVc* from = nullptr;
  ChannelVc* to = nullptr;  // not for a sink
  Channel* channel = nullptr;
  bool may_refuse = false;
  std::uint32_t vc = 0;
  std::uint32_t out_vc = 0;
  std::uint32_t input = 0;
  bool held = false;
  bool is_wormhole = false;  // while held: flits of the packet may have to wait for credits
  bool is_control = false;   // while held: by a control message
  VcMask owned = 0;          // VCs between a head's grant and the tail
  std::uint32_t sink_port = 0;
  Cycle sink_latency = 0;
};

}  // namespace espalier
