// The place of an external router in the network: its links are ports made of signals.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "flowctl/message.h"
#include "flowctl/virtual_channels.h"
#include "hw/clock/clock_domain.h"
#include "ni/message_store.h"
#include "router/flit_router.h"
#include "router/router_rules.h"
#include "router/router_spec.h"
#include "sockets/signals/flit_bridge.h"
#include "sockets/signals/flit_signals.h"
#include "sockets/signals/signal_socket.h"

namespace espalier {

// The signals of an external router, and what the configuration says of it. Input i ends the
// vertex's i-th incoming link, output i begins its i-th outgoing link. Inputs from its NI and
// outputs to its NI follow.
struct RouterSignals {
  std::string name;  // of the vertex
  RouterSpec spec;   // system.router
  Switching switching = Switching::vct;
  Cycle pipeline = 0;  // system.router.pipeline_cycles
  std::size_t links_in = 0;
  std::size_t links_out = 0;
  std::vector<std::unique_ptr<FlitSignals>> inputs;
  std::vector<std::unique_ptr<FlitSignals>> outputs;
};

struct RouterSocketSpec {
  RouterSpec router;
  Switching switching = Switching::vct;
  std::size_t links_in = 0;
};

// Checks at its outputs that the module passes on the flits that it got, each to the output and on
// a VC that the flit's route says.
class RouterSocket : public sc_core::sc_module, public FlitRouter, public SignalSocket {
 public:
  // `inputs`: as for a built-in router of this vertex, links first. `messages` and `paths` must
  // outlive the socket.
  RouterSocket(sc_core::sc_module_name module_name, const RouterSocketSpec& spec,
               const MessageStore& messages, const PathTable& paths,
               const std::vector<InputPortSpec>& inputs, ProtocolWatch& watch);

  [[nodiscard]] RouterSignals& ports() { return signals_; }

  // FlitRouter
  [[nodiscard]] Channel& input_channel(std::size_t input) override { return channels_[input]; }
  [[nodiscard]] std::size_t num_inputs() const override { return channels_.size(); }
  void add_output(Channel& channel) override;
  void add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency) override;
  void connect() override {}
  [[nodiscard]] std::uint64_t flit_hops() const override { return flit_hops_; }
  [[nodiscard]] std::uint64_t control_flit_hops() const override { return 0; }
  [[nodiscard]] Counters counters() const override { return {}; }
  [[nodiscard]] bool under_way(Cycle now) const override;
  void explain_waits(Cycle now, WaitList& waits) const override;

  // SignalSocket
  void sample(Cycle now) override;
  void drive(Cycle now) override;

 private:
  [[nodiscard]] const std::vector<std::unique_ptr<FlitSignals>>& received() const override {
    return signals_.inputs;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<FlitSignals>>& sent() const override {
    return signals_.outputs;
  }
  // An ejection port: the NI takes a flit in each cycle, so there are no credits.
  struct Ejection {
    EjectionPort to;
    std::vector<std::uint32_t> packet_flits;  // by VC: of the packet that is leaving
    ChannelMonitor monitor;
  };

  FlitSignals& add_signals(std::vector<std::unique_ptr<FlitSignals>>& signals, const char* name,
                           FlitChannelSpec spec);
  [[nodiscard]] std::string port_name(const char* side, std::size_t port) const;
  // The flit as the model sends it on, if the module may send it at output `port`.
  [[nodiscard]] bool passes_on(const SignalFlit& flit, std::size_t port, Cycle now);
  void sample_ejection(std::size_t port, Cycle now);

  RouterSignals signals_;
  const MessageStore& messages_;
  const PathTable& paths_;
  ProtocolWatch& watch_;
  InputChannels<Channel> channels_;
  std::vector<std::unique_ptr<ReceiverBridge>> inputs_;
  std::vector<std::unique_ptr<SenderBridge>> outputs_;  // of links
  std::vector<Ejection> ejections_;
  std::vector<std::uint32_t> held_;  // by message: flits that have arrived and not left
  std::uint64_t flit_hops_ = 0;
};

}  // namespace espalier
