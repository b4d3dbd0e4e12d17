#include "sockets/signals/flit_bridge.h"

#include <fmt/format.h>

#include <utility>

namespace espalier {

FlitChannelSpec channel_spec(const Channel& channel) {
  FlitChannelSpec spec;
  spec.name = channel.link().name();
  spec.vcs = channel.spec().vcs;
  spec.vc_depth_flits = channel.spec().vc_depth_flits;
  spec.cycles_per_flit = static_cast<std::uint32_t>(channel.ticks_per_flit());
  spec.permitted = all_vcs(spec.vcs);
  return spec;
}

SignalFlit describe_flit(const MessageStore& messages, std::uint32_t vc, const Flit& flit) {
  const Operation& operation = messages.whole_of(flit.message).operation;
  SignalFlit signal;
  signal.vc = vc;
  signal.type = flit.type;
  signal.left_in_packet = flit.left_in_packet;
  signal.message = flit.message.value();
  signal.source = operation.from.value();
  signal.destination = operation.to.value();
  signal.flow = operation.flow.value();
  signal.kind = operation.on_arrival;
  signal.bytes = messages[flit.message].bytes;
  signal.hop = flit.hop;
  return signal;
}

std::optional<SignalFlit> FlitDisplay::drive(Cycle now) {
  const bool arrives = !coming_.empty() && coming_.front().arrival == now + 1;
  signals_.valid.write(arrives);
  if (!arrives) return std::nullopt;
  const SignalFlit flit = coming_.front().flit;
  coming_.pop_front();
  signals_.flit.write(flit);
  return flit;
}

ReceiverBridge::ReceiverBridge(Channel& channel, FlitSignals& signals, DescribeFlit describe,
                               ProtocolWatch& watch, std::string port)
    : channel_(channel),
      signals_(signals),
      describe_(std::move(describe)),
      watch_(watch),
      port_(std::move(port)),
      display_(signals),
      held_(channel.spec().vcs, 0) {
  channel.connect_receiver(*this);
  channel.observe(*this);
}

void ReceiverBridge::flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) {
  display_.add(describe_(vc, flit), departure + channel_.link().timing().latency);
}

void ReceiverBridge::sample(Cycle now) {
  const VcMask credits = signals_.credits.read();
  if (credits == 0) return;
  if ((credits & ~all_vcs(channel_.spec().vcs)) != 0) {
    return watch_.report(
        port_, now,
        fmt::format("credits {:#x} name a VC above {}", credits, channel_.spec().vcs - 1));
  }
  for (VcMask left = credits; left != 0; left &= left - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
    if (held_[vc] == 0) {
      return watch_.report(
          port_, now,
          fmt::format("a credit for VC {} was returned, but no flit of this VC is held", vc));
    }
    --held_[vc];
    channel_.pop(vc, now);
  }
}

std::optional<SignalFlit> ReceiverBridge::drive(Cycle now) {
  const std::optional<SignalFlit> flit = display_.drive(now);
  if (flit) ++held_[flit->vc];
  return flit;
}

SenderBridge::SenderBridge(Channel& channel, FlitSignals& signals, ProtocolWatch& watch,
                           std::string port)
    : channel_(channel), signals_(signals), watch_(watch), port_(std::move(port)) {
  if (channel.monitor() == nullptr) channel.attach_monitor();
  channel.observe(*this);
}

std::optional<SignalFlit> SenderBridge::sample(Cycle now) {
  if (!signals_.valid.read()) return std::nullopt;
  const SignalFlit& flit = signals_.flit.read();
  const auto refuse = [&](const std::string& rule) {
    watch_.report(port_, now, rule);
    return std::nullopt;
  };
  if (flit.vc >= channel_.spec().vcs) {
    return refuse(fmt::format("a flit was sent on VC {}; the channel has VCs 0 to {}", flit.vc,
                              channel_.spec().vcs - 1));
  }
  if (now < free_at_) {
    return refuse(
        fmt::format("a flit was sent {} cycles after the last one; the link carries one "
                    "flit in {} cycles",
                    now + channel_.ticks_per_flit() - free_at_, channel_.ticks_per_flit()));
  }
  if (!channel_.has_room(flit.vc, 1, now)) {
    return refuse(fmt::format("a flit was sent on VC {} without a credit", flit.vc));
  }
  free_at_ = now + channel_.ticks_per_flit();
  return flit;
}

void SenderBridge::send(std::uint32_t vc, const Flit& flit, Cycle now) {
  ++flits_sent_;
  channel_.send(vc, flit, now);
  // "cycle 17, vc 1: the flits of a packet are not consecutive"
  const std::string& violation = channel_.monitor()->violation();
  if (!violation.empty()) watch_.report(port_, now, violation.substr(violation.find(", ") + 2));
}

void SenderBridge::flits_left(std::uint32_t vc, const FlitRun& flits) {
  const Cycle seen = flits.start + channel_.spec().credit_latency;
  if (credits_.empty() || credits_.back().seen != seen) credits_.push_back({seen, 0});
  credits_.back().vcs |= VcMask{1} << vc;
}

void SenderBridge::drive(Cycle now) {
  const bool arrives = !credits_.empty() && credits_.front().seen == now + 1;
  signals_.credits.write(arrives ? credits_.front().vcs : 0);
  if (arrives) credits_.pop_front();
}

bool SenderBridge::under_way(Cycle now) const { return free_at_ > now + 1 || !credits_.empty(); }

}  // namespace espalier
