#include "sockets/signals/ni_socket.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {

std::string describe_send(const NiSend& send) {
  return fmt::format("flow {} to node {} ({})", send.flow, send.destination, to_string(send.kind));
}

}  // namespace

NiSocket::NiSocket(sc_core::sc_module_name module_name, NodeId node, MessageStore& messages,
                   const std::vector<BoundRoute>& routes, DeliveryObserver& observer,
                   ProtocolWatch& watch, Cycle ejection_latency)
    : sc_module(module_name),
      messages_(messages),
      routes_(routes),
      observer_(observer),
      watch_(watch),
      ejection_latency_(ejection_latency) {
  signals_.name = basename();
  signals_.node = node;
}

void NiSocket::add_port(Channel& channel, const InjectionSpec& spec) {
  const std::size_t number = ports_.size();
  FlitChannelSpec out = channel_spec(channel);
  out.permitted = spec.vcs & all_vcs(out.vcs);
  FlitChannelSpec in = out;
  in.name = fmt::format("{}.in{}", name(), number);
  in.vc_depth_flits = 0;
  in.cycles_per_flit = 1;
  in.permitted = all_vcs(in.vcs);
  signals_.injection.push_back(
      std::make_unique<FlitSignals>(fmt::format("{}_out{}", basename(), number), out));
  signals_.ejection.push_back(
      std::make_unique<FlitSignals>(fmt::format("{}_in{}", basename(), number), in));
  ports_.push_back(std::make_unique<Port>(channel, *signals_.injection.back(),
                                          *signals_.ejection.back(), watch_,
                                          fmt::format("{}, port {}", basename(), number)));
  ports_.back()->permitted = out.permitted;
  ports_.back()->framing = spec.framing;
  signals_.framing = spec.framing;
  ports_.back()->switching = spec.switching;
}

void NiSocket::load(const std::vector<Operation>& sends, DataMemory& memory) {
  operations_ = sends;
  memory_ = &memory;
  is_begun_.assign(sends.size(), false);
  for (const Operation& operation : sends) {
    const std::uint32_t port = routes_[operation.route.index()].injection_port;
    signals_.sends.push_back({operation.flow.value(), operation.to.value(), operation.on_arrival,
                              operation.bytes, port,
                              Framing(ports_[port]->framing, operation.bytes)});
  }
}

void NiSocket::flit_ejected(std::uint32_t port, std::uint32_t vc, const Flit& flit) {
  ports_[port]->display.add(describe_flit(messages_, vc, flit), now_ + ejection_latency_);
}

void NiSocket::packets_end(std::uint32_t, MessageId message, std::uint64_t count,
                           std::uint32_t flits, Cycle, Cycle arrival) {
  received_flits_ += count * flits;
  if (messages_.received(message, count * flits)) arrivals_.push_back({arrival, message});
}

void NiSocket::sample(Cycle now) {
  // Arrivals of all ports, by time. What arrives now may leave now.
  const auto due = std::stable_partition(arrivals_.begin(), arrivals_.end(),
                                         [&](const Arrival& a) { return a.at <= now; });
  for (auto arrival = arrivals_.begin(); arrival != due; ++arrival) complete(arrival->message, now);
  arrivals_.erase(arrivals_.begin(), due);
  for (std::size_t p = 0; p < ports_.size() && !watch_.is_broken(); ++p) {
    const std::optional<SignalFlit> flit = ports_[p]->bridge.sample(now);
    if (flit) take(p, *flit, now);
  }
  now_ = now + 1;
}

void NiSocket::drive(Cycle now) {
  for (const auto& port : ports_) {
    port->display.drive(now);
    port->bridge.drive(now);
  }
}

void NiSocket::take(std::size_t number, const SignalFlit& flit, Cycle now) {
  Port& port = *ports_[number];
  Entering& entering = port.vcs[flit.vc];
  const auto refuse = [&](const std::string& rule) {
    watch_.report(port.bridge.port(), now, rule);
  };
  if ((port.permitted >> flit.vc & 1U) == 0) {
    return refuse(
        fmt::format("a flit was sent on VC {}; the NI may use VCs {:#x}", flit.vc, port.permitted));
  }
  if (entering.message == nullptr) {
    if (!carries_header(flit.type)) {
      return refuse(fmt::format(
          "a {} flit was sent on VC {}, where no packet has begun: a packet begins with "
          "a head flit, and its flits stay on one VC",
          to_string(flit.type), flit.vc));
    }
    Sending* const message = message_of(number, flit, now);
    if (message == nullptr) return;
    entering = {message, message->next_packet++, 0};
  }
  const Framing& framing = signals_.sends[entering.message->send].framing;
  const std::uint32_t flits = framing.flits_in_packet(entering.packet);
  const FlitType type = framing.type_of(entering.packet, entering.flit);
  if (flit.type != type) {
    return refuse(fmt::format(
        "a {} flit was sent on VC {}; flit {} of the {} flits of packet {} of {} is a {}",
        to_string(flit.type), flit.vc, entering.flit + 1, flits, entering.packet + 1,
        describe_send(signals_.sends[entering.message->send]), to_string(type)));
  }
  if (carries_header(type)) ++head_flits_;
  port.bridge.send(
      flit.vc,
      {entering.message->message, static_cast<std::uint16_t>(flits - entering.flit), 0, type}, now);
  ++entering.flit;
  if (ends_packet(type)) end_packet(entering);
}

NiSocket::Sending* NiSocket::message_of(std::size_t port, const SignalFlit& flit, Cycle now) {
  const auto refuse = [&](const std::string& rule) {
    watch_.report(ports_[port]->bridge.port(), now, rule);
    return nullptr;
  };
  std::size_t s = 0;
  bool is_known = false;
  for (; s < signals_.sends.size(); ++s) {
    const NiSend& send = signals_.sends[s];
    if (send.flow != flit.flow || send.destination != flit.destination || send.kind != flit.kind) {
      continue;
    }
    is_known = true;
    const auto open = std::find_if(sending_.begin(), sending_.end(), [&](const Sending& m) {
      return m.send == s && m.next_packet < send.framing.packets();
    });
    if (open != sending_.end()) {
      return send.port == port ? &*open : refuse("the packets of a message use one port");
    }
    if (!is_begun_[s]) break;
  }
  if (s == signals_.sends.size()) {
    return refuse(fmt::format(
        "a head flit names flow {} to node {} ({}), {}", flit.flow, flit.destination,
        to_string(flit.kind),
        is_known ? "all of whose flits have been sent" : "which the schedule table does not send"));
  }
  const NiSend& send = signals_.sends[s];
  if (send.port != port) {
    return refuse(
        fmt::format("{} was sent, whose route begins at port {}", describe_send(send), send.port));
  }
  is_begun_[s] = true;
  Operation operation = operations_[s];
  operation.ready = now;
  const PacketGrid grid = send.framing.grid();
  const BoundRoute& route = routes_[operation.route.index()];
  observer_.issued(operation, now);
  const MessageId message =
      messages_.open(operation, {grid, grid.flits, route.path, ports_[port]->switching}, memory_);
  sending_.push_back({message, s, 0, send.framing.packets()});
  return &sending_.back();
}

void NiSocket::end_packet(Entering& entering) {
  Sending* const message = entering.message;
  const Framing& framing = signals_.sends[message->send].framing;
  if (--message->packets_left == 0) {
    static_cast<void>(messages_.stripe_sent(message->message));
    sending_.remove_if([&](const Sending& sending) { return &sending == message; });
    entering = {};
  } else if (framing.message_mode()) {
    entering = {message, message->next_packet++, 0};
  } else {
    entering = {};
  }
}

void NiSocket::complete(MessageId id, Cycle now) {
  if (!messages_.stripe_arrived(id)) return;
  const InFlightMessage& whole = messages_.whole_of(id);
  const Operation operation = whole.operation;
  if (memory_ != nullptr && operation.num_chunks != 0) memory_->write(operation, whole.data);
  messages_.close_whole(id);
  observer_.delivered(operation, now);
}

bool NiSocket::under_way(Cycle now) const {
  return !arrivals_.empty() || std::any_of(ports_.begin(), ports_.end(), [&](const auto& port) {
    return !port->display.empty() || port->bridge.under_way(now);
  });
}

void NiSocket::explain_waits(WaitList& waits) const {
  for (std::size_t s = 0; s < signals_.sends.size(); ++s) {
    if (is_begun_[s]) continue;
    const NiSend& send = signals_.sends[s];
    waits.push_back({name(), fmt::format("{}.port{}", name(), send.port),
                     fmt::format("the external NI has not sent {}", describe_send(send))});
    return;
  }
}

}  // namespace espalier
