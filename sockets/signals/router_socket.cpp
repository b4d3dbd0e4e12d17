#include "sockets/signals/router_socket.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

// Each channel ends at the module's pins: the pipeline behind them is the module's affair.
std::vector<InputPortSpec> at_pins(std::vector<InputPortSpec> inputs) {
  for (InputPortSpec& input : inputs) input.channel.receiver_pipeline = 0;
  return inputs;
}

// Depth for the channel monitor at an ejection port: a flit enters and leaves in one cycle.
constexpr std::uint32_t kEjectionDepth = 2;

}  // namespace

RouterSocket::RouterSocket(sc_core::sc_module_name module_name, const RouterSocketSpec& spec,
                           const MessageStore& messages, const PathTable& paths,
                           const std::vector<InputPortSpec>& inputs, ProtocolWatch& watch)
    : sc_module(module_name),
      messages_(messages),
      paths_(paths),
      watch_(watch),
      channels_(at_pins(inputs), StallPattern{}) {
  signals_.name = basename();
  signals_.spec = spec.router;
  signals_.switching = spec.switching;
  signals_.links_in = spec.links_in;
  if (!inputs.empty()) signals_.pipeline = inputs.front().channel.receiver_pipeline;
  const auto describe = [this](std::uint32_t vc, const Flit& flit) {
    const PathHop& hop = paths_.hop(messages_.routing(flit.message).path, flit.hop);
    SignalFlit shown = describe_flit(messages_, vc, flit);
    shown.out_port = hop.out_port;
    shown.out_vcs = hop.vcs;
    return shown;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    FlitSignals& signals = add_signals(signals_.inputs, "in", channel_spec(channels_[i]));
    inputs_.push_back(std::make_unique<ReceiverBridge>(channels_[i], signals, describe, watch,
                                                       port_name("input", i)));
  }
}

FlitSignals& RouterSocket::add_signals(std::vector<std::unique_ptr<FlitSignals>>& signals,
                                       const char* name, FlitChannelSpec spec) {
  signals.push_back(std::make_unique<FlitSignals>(
      fmt::format("{}_{}{}", basename(), name, signals.size()), std::move(spec)));
  return *signals.back();
}

std::string RouterSocket::port_name(const char* side, std::size_t port) const {
  return fmt::format("{}, {} {}", basename(), side, port);
}

void RouterSocket::add_output(Channel& channel) {
  const std::string port = port_name("output", signals_.outputs.size());
  FlitSignals& signals = add_signals(signals_.outputs, "out", channel_spec(channel));
  outputs_.push_back(std::make_unique<SenderBridge>(channel, signals, watch_, port));
  ++signals_.links_out;
}

void RouterSocket::add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency) {
  FlitChannelSpec spec;
  spec.name = fmt::format("{}.out_ni{}", name(), sink_port);
  spec.vcs = signals_.spec.vcs;
  spec.vc_depth_flits = 0;
  spec.permitted = all_vcs(spec.vcs);
  add_signals(signals_.outputs, "out", spec);
  ejections_.push_back({{&sink, sink_port, latency, nullptr},
                        std::vector<std::uint32_t>(spec.vcs, 0),
                        ChannelMonitor(spec.vcs, kEjectionDepth, 1)});
}

void RouterSocket::sample(Cycle now) {
  for (const auto& input : inputs_) input->sample(now);
  for (std::size_t o = 0; o < outputs_.size() && !watch_.is_broken(); ++o) {
    const std::optional<SignalFlit> flit = outputs_[o]->sample(now);
    if (!flit || !passes_on(*flit, o, now)) continue;
    outputs_[o]->send(flit->vc,
                      {MessageId(flit->message), static_cast<std::uint16_t>(flit->left_in_packet),
                       static_cast<std::uint16_t>(flit->hop + 1), flit->type},
                      now);
  }
  for (std::size_t e = 0; e < ejections_.size() && !watch_.is_broken(); ++e) {
    sample_ejection(e, now);
  }
}

bool RouterSocket::passes_on(const SignalFlit& flit, std::size_t port, Cycle now) {
  const auto refuse = [&](const std::string& rule) {
    watch_.report(port_name("output", port), now, rule);
    return false;
  };
  if (flit.message >= held_.size() || held_[flit.message] == 0) {
    return refuse(
        fmt::format("a flit of message {} was sent, but no flit of this message is in the router",
                    flit.message));
  }
  const PathHop& hop = paths_.hop(messages_.routing(MessageId(flit.message)).path, flit.hop);
  if (hop.out_port != port) {
    return refuse(fmt::format("a flit of message {} was sent, whose route takes output {}",
                              flit.message, hop.out_port));
  }
  if ((hop.vcs >> flit.vc & 1U) == 0) {
    return refuse(fmt::format("a flit of message {} was sent on VC {}; its route permits VCs {:#x}",
                              flit.message, flit.vc, hop.vcs));
  }
  --held_[flit.message];
  ++flit_hops_;
  return true;
}

void RouterSocket::sample_ejection(std::size_t port, Cycle now) {
  const std::size_t output = outputs_.size() + port;
  const FlitSignals& signals = *signals_.outputs[output];
  if (!signals.valid.read()) return;
  const SignalFlit& flit = signals.flit.read();
  if (flit.vc >= signals.spec.vcs) {
    return watch_.report(port_name("output", output), now,
                         fmt::format("a flit was sent on VC {}; the port has VCs 0 to {}", flit.vc,
                                     signals.spec.vcs - 1));
  }
  if (!passes_on(flit, output, now)) return;
  Ejection& ejection = ejections_[port];
  const Flit sent{MessageId(flit.message), static_cast<std::uint16_t>(flit.left_in_packet),
                  static_cast<std::uint16_t>(flit.hop + 1), flit.type};
  ejection.monitor.sent(flit.vc, sent, now);
  ejection.monitor.left(flit.vc, sent, now);
  if (const std::string& violation = ejection.monitor.violation(); !violation.empty()) {
    return watch_.report(port_name("output", output), now,
                         violation.substr(violation.find(", ") + 2));
  }
  std::uint32_t& packet = ejection.packet_flits[flit.vc];
  if (packet == 0) packet = flit.left_in_packet;
  if (!ends_packet(flit.type)) return;
  ejection.to.sink->packets_end(ejection.to.port, sent.message, 1, packet,
                                now + ejection.to.latency, now + ejection.to.latency);
  packet = 0;
}

void RouterSocket::drive(Cycle now) {
  for (const auto& input : inputs_) {
    const std::optional<SignalFlit> flit = input->drive(now);
    if (!flit) continue;
    if (flit->message >= held_.size()) held_.resize(flit->message + 1, 0);
    ++held_[flit->message];
  }
  for (const auto& output : outputs_) output->drive(now);
}

bool RouterSocket::under_way(Cycle now) const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const auto& input) { return input->has_flits_on_the_link(); }) ||
         std::any_of(outputs_.begin(), outputs_.end(),
                     [now](const auto& output) { return output->under_way(now); });
}

void RouterSocket::explain_waits(Cycle, WaitList& waits) const {
  for (const auto& input : inputs_) {
    for (std::uint32_t vc = 0; vc < signals_.spec.vcs; ++vc) {
      if (input->held(vc) == 0) continue;
      waits.push_back({fmt::format("{}.vc{}", input->channel().link().name(), vc), signals_.name,
                       fmt::format("the external router holds {} flits of it", input->held(vc))});
    }
  }
}

}  // namespace espalier
