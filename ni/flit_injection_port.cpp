#include "ni/flit_injection_port.h"

#include <algorithm>

namespace espalier {

FlitLane::FlitLane(Channel& channel, SendQueue& queue, Switching switching, VcMask vcs)
    : may_block_(channel.may_refuse() || switching == Switching::wormhole),
      ticks_per_cycle_(channel.spec().ticks_per_cycle),
      channel_(channel),
      queue_(queue),
      switching_(switching),
      vcs_(vcs & all_vcs(channel.spec().vcs)) {}

bool FlitLane::start_packet(Cycle now, VcMask taken, Cycle& ask_again) {
  const Cycle ready = queue_.packet_ready();
  if (ready > now) {
    blocked_on_ = "dma";
    ask_again = ready;
    return false;
  }
  const Framing& framing = queue_.framing();
  const std::uint64_t packet = queue_.packet();
  const std::uint32_t flits = framing.flits_in_packet(packet);
  const Tick q = ticks_per_cycle_;
  // Message mode: a message keeps its VC until its tail.
  const VcMask candidates = vc_ != kNoVc ? VcMask{1} << vc_ : vcs_ & queue_.vcs() & ~taken;
  const VcChoice choice = choose_vc(channel_, candidates, credits_to_start(switching_, flits), now,
                                    (now + 1) * q - 1, first_vc_);
  if (choice.vc == kNoVc) {
    blocked_on_ = "credit";
    ask_again = choice.ask_again == kNever ? kNever : choice.ask_again / q;
    return false;
  }
  blocked_on_ = "";
  vc_ = choice.vc;
  if (queue_.spec().vc_order == VcOrder::rotating) first_vc_ = (vc_ + 1) % channel_.spec().vcs;
  to_ = &channel_.vc(vc_);
  sending_ = true;
  next_ = {queue_.message(), static_cast<std::uint16_t>(flits), 0, framing.type_of(packet, 0)};
  packet_body_ = framing.message_mode() ? FlitType::sub_body : FlitType::body;
  packet_end_ = framing.type_of(packet, flits - 1);
  return true;
}

MessageId FlitLane::end_packet() {
  sending_ = false;
  if (releases_vc(packet_end_)) vc_ = kNoVc;
  const MessageId message = queue_.message();
  return queue_.packet_sent() ? message : MessageId();
}

bool FlitLane::under_way(Cycle now) const {
  if (queue_.empty()) return false;
  const Cycle ready = sending_ ? now : queue_.packet_ready();
  return (ready > now && ready != kNever) ||
         channel_.credit_under_way((now + 1) * ticks_per_cycle_ - 1, vcs_ & queue_.vcs());
}

FlitInjectionPort::FlitInjectionPort(Channel& channel, const InjectionSpec& spec)
    : InjectionPort(spec),
      channel_(channel),
      gradients_(channel, queue(), spec.switching, spec.vcs) {
  if (spec.control_vcs != 0) control_.emplace(channel, spec);
}

// A packet's flits are counted when it starts; the rest of the packet under way has not left.
std::uint64_t FlitInjectionPort::flits_sent(Cycle) const {
  return counted_flits() - (gradients_.is_sending() ? gradients_.next_flit().left_in_packet : 0U);
}

bool FlitInjectionPort::start_gradient(Cycle now, VcMask taken, Cycle& ask_again) {
  const bool started = gradients_.start_packet(now, taken, ask_again);
  set_blocked_on(gradients_.blocked_on());
  if (!started) return false;
  const Flit& head = gradients_.next_flit();
  count_flits(head.left_in_packet, carries_header(head.type) ? 1U : 0U);
  return true;
}

Cycle FlitInjectionPort::evaluate(Cycle now) {
  if (control_) return evaluate_both(now);
  if (!gradients_.is_sending()) {
    if (queue().empty()) return kNever;
    Cycle ask_again = now + 1;
    if (!start_gradient(now, 0, ask_again)) return ask_again;
  }
  if (gradients_.may_send(now)) send(gradients_, now);
  return now + 1;
}

Cycle FlitInjectionPort::evaluate_both(Cycle now) {
  Cycle ask_again = kNever;
  const bool gradient_first =
      gradients_.is_sending() || (!control_->lane.is_sending() && !control_->is_next);
  const bool sent = gradient_first ? send_gradient(now, ask_again) || send_control(now, ask_again)
                                   : send_control(now, ask_again) || send_gradient(now, ask_again);
  return sent ? now + 1 : ask_again;
}

bool FlitInjectionPort::send_gradient(Cycle now, Cycle& ask_again) {
  if (!gradients_.is_sending()) {
    if (queue().empty()) return false;
    Cycle next = kNever;
    const bool started = start_gradient(now, control_->lane.owned(), next);
    ask_again = std::min(ask_again, next);
    if (!started) return false;
    control_->is_next = true;
  }
  ask_again = now + 1;
  if (!gradients_.may_send(now)) return false;
  send(gradients_, now);
  return true;
}

bool FlitInjectionPort::send_control(Cycle now, Cycle& ask_again) {
  FlitLane& lane = control_->lane;
  if (!lane.is_sending()) {
    if (control_->queue.empty()) return false;
    Cycle next = kNever;
    const bool started = lane.start_packet(now, gradients_.owned(), next);
    ask_again = std::min(ask_again, next);
    if (!started) return false;
    count_control_flits(lane.next_flit().left_in_packet);
    control_->is_next = false;
  }
  ask_again = now + 1;
  if (!lane.may_send(now)) return false;
  send(lane, now);
  return true;
}

}  // namespace espalier
