// The signals of one flit channel, and the ports of modules that are bound to them. One clock; a
// signal's value in cycle t is what a process at the rising edge of t reads.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <systemc>
#include <tuple>
#include <utility>

#include "alg/schedule/schedule.h"
#include "flowctl/flit.h"
#include "flowctl/virtual_channels.h"
#include "hw/ids.h"

namespace espalier {

// A flit as a value of a signal: everything that a router or NI of another model needs. A router
// passes a flit on as it came, with another `vc`. An NI that sends sets `vc` and `type`,
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

  [[nodiscard]] auto members() const {
    return std::tie(vc, type, left_in_packet, out_port, out_vcs, message, source, destination, flow,
                    kind, bytes, hop);
  }
  friend bool operator==(const SignalFlit& a, const SignalFlit& b) {
    return a.members() == b.members();
  }
  friend bool operator!=(const SignalFlit& a, const SignalFlit& b) { return !(a == b); }
};

// "head vc 1 of message 7, 16 left, to port 2".
std::ostream& operator<<(std::ostream& out, const SignalFlit& flit);

// One trace variable for each field, `<name>.vc` and so on.
void sc_trace(sc_core::sc_trace_file* file, const SignalFlit& flit, const std::string& name);

// The parameters of a channel. The sender starts with `depth_of(vc)` credits for each VC.
struct FlitChannelSpec {
  std::string name;  // of the link in the model, e.g. "net.r_1_1.in_from_x_minus"
  std::uint32_t vcs = 1;
  std::uint32_t vc_depth_flits = 1;   // of the receiver; 0: an ejection port, which has no credits
  std::uint32_t cycles_per_flit = 1;  // of the link: a flit in every so many cycles at most
  VcMask permitted = ~VcMask{0};      // VCs that the sender may use
};

// valid, flit: from the sender. While `valid` is true, each cycle carries a flit.
// credits: from the receiver, one bit for each VC. A bit that is true in a cycle is one credit: a
// flit of that VC has left the receiver's buffer.
struct FlitSignals {
  // `name` begins the names of the signals: <name>_valid and so on.
  FlitSignals(const std::string& name, FlitChannelSpec channel)
      : spec(std::move(channel)),
        valid((name + "_valid").c_str()),
        flit((name + "_flit").c_str()),
        credits((name + "_credits").c_str()) {}

  const FlitChannelSpec spec;
  sc_core::sc_signal<bool> valid;
  sc_core::sc_signal<SignalFlit> flit;
  sc_core::sc_signal<VcMask> credits;
};

// Ports of a sender or a receiver. `name` begins the names of the ports: <name>_valid and so on.
template <template <class> class Forward, template <class> class Back>
struct FlitPort {
  explicit FlitPort(const std::string& name)
      : valid((name + "_valid").c_str()),
        flit((name + "_flit").c_str()),
        credits((name + "_credits").c_str()) {}

  Forward<bool> valid;
  Forward<SignalFlit> flit;
  Back<VcMask> credits;

  void bind(FlitSignals& signals) {
    valid.bind(signals.valid);
    flit.bind(signals.flit);
    credits.bind(signals.credits);
  }
};
using FlitInPort = FlitPort<sc_core::sc_in, sc_core::sc_out>;   // of a receiver
using FlitOutPort = FlitPort<sc_core::sc_out, sc_core::sc_in>;  // of a sender

}  // namespace espalier
