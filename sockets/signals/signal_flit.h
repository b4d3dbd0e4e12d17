// A flit as a value of a SystemC signal: everything that a router or NI of another model needs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <systemc>

#include "alg/schedule/schedule.h"
#include "flowctl/flit.h"
#include "flowctl/virtual_channels.h"
#include "hw/ids.h"

namespace espalier {

// A router passes a flit on as it came, with another `vc`. An NI that sends sets `vc` and `type`,
// and in flits with a header also `flow`, `destination` and `kind`; the other fields are ignored.
struct SignalFlit {
  std::uint32_t vc = 0;
  FlitType type = FlitType::body;
  // Flits of the packet from this one on. In a packet's first flit: the packet's length.
  std::uint32_t left_in_packet = 1;
  // The route of the router at which the flit arrives: output port, and permitted VCs there. Ports
  // are numbered as in docs/plug_in.md: links in the topology's order, then ejection ports.
  std::uint32_t out_port = 0;
  VcMask out_vcs = 0;
  // The message, unique among the messages in flight.
  std::uint32_t message = 0;
  std::uint32_t source = 0;       // node
  std::uint32_t destination = 0;  // node
  std::uint32_t flow = 0;         // of a collective: tree or chain; of traffic: message number
  TransferKind kind = TransferKind::copy;
  std::uint64_t bytes = 0;  // payload of the message
  std::uint32_t hop = 0;    // routers passed

  friend bool operator==(const SignalFlit& a, const SignalFlit& b) {
    return a.vc == b.vc && a.type == b.type && a.left_in_packet == b.left_in_packet &&
           a.out_port == b.out_port && a.out_vcs == b.out_vcs && a.message == b.message &&
           a.source == b.source && a.destination == b.destination && a.flow == b.flow &&
           a.kind == b.kind && a.bytes == b.bytes && a.hop == b.hop;
  }
  friend bool operator!=(const SignalFlit& a, const SignalFlit& b) { return !(a == b); }
};

// "head vc 1 of message 7, 16 left, to port 2".
std::ostream& operator<<(std::ostream& out, const SignalFlit& flit);

// One trace variable for each field, `<name>.vc` and so on.
void sc_trace(sc_core::sc_trace_file* file, const SignalFlit& flit, const std::string& name);

}  // namespace espalier
