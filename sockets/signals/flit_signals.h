// The signals of one flit channel, and the ports of modules that are bound to them. One clock; a
// signal's value in cycle t is what a process at the rising edge of t reads.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <utility>

#include "flowctl/virtual_channels.h"
#include "sockets/signals/signal_flit.h"

namespace espalier {

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

// Ports of a receiver. `name` begins the names of the ports: <name>_valid and so on.
struct FlitInPort {
  explicit FlitInPort(const std::string& name)
      : valid((name + "_valid").c_str()),
        flit((name + "_flit").c_str()),
        credits((name + "_credits").c_str()) {}

  sc_core::sc_in<bool> valid;
  sc_core::sc_in<SignalFlit> flit;
  sc_core::sc_out<VcMask> credits;

  void bind(FlitSignals& signals) {
    valid.bind(signals.valid);
    flit.bind(signals.flit);
    credits.bind(signals.credits);
  }
};

// Ports of a sender.
struct FlitOutPort {
  explicit FlitOutPort(const std::string& name)
      : valid((name + "_valid").c_str()),
        flit((name + "_flit").c_str()),
        credits((name + "_credits").c_str()) {}

  sc_core::sc_out<bool> valid;
  sc_core::sc_out<SignalFlit> flit;
  sc_core::sc_in<VcMask> credits;

  void bind(FlitSignals& signals) {
    valid.bind(signals.valid);
    flit.bind(signals.flit);
    credits.bind(signals.credits);
  }
};

}  // namespace espalier
