#include "ni/flit_injection_port.h"

namespace espalier {

FlitInjectionPort::FlitInjectionPort(Channel& channel, const InjectionSpec& spec)
    : InjectionPort(spec),
      may_block_(channel.may_refuse() || spec.switching == Switching::wormhole),
      ticks_per_cycle_(channel.spec().ticks_per_cycle),
      channel_(channel),
      switching_(spec.switching) {}

bool FlitInjectionPort::start_packet(Cycle now, Cycle& ask_again) {
  const Cycle ready = queue().packet_ready();
  if (ready > now) {
    set_blocked_on("dma");
    ask_again = ready;
    return false;
  }
  const Framing& framing = queue().framing();
  const std::uint64_t packet = queue().packet();
  const std::uint32_t flits = framing.flits_in_packet(packet);
  const Tick q = ticks_per_cycle_;
  // Message mode: the VC stays with the message until its tail.
  const VcMask candidates = vc_ != kNoVc ? VcMask{1} << vc_ : all_vcs(channel_.spec().vcs);
  const VcChoice choice =
      choose_vc(channel_, candidates, credits_to_start(switching_, flits), now, (now + 1) * q - 1);
  if (choice.vc == kNoVc) {
    set_blocked_on("credit");
    ask_again = choice.ask_again / q;
    return false;
  }
  set_blocked_on("");
  vc_ = choice.vc;
  to_ = &channel_.vc(vc_);
  sending_ = true;
  next_ = {queue().message(), static_cast<std::uint16_t>(flits), 0, framing.type_of(packet, 0)};
  packet_body_ = framing.message_mode() ? FlitType::sub_body : FlitType::body;
  packet_end_ = framing.type_of(packet, flits - 1);
  count_flits(flits, carries_header(next_.type) ? 1U : 0U);
  return true;
}

bool FlitInjectionPort::may_send(Cycle now) const {
  return channel_.ready(now) && (switching_ == Switching::vct ||
                                 to_->buffer().has_room(1, (now + 1) * ticks_per_cycle_ - 1));
}

Cycle FlitInjectionPort::evaluate(Cycle now) {
  if (!sending_) {
    if (queue().empty()) return kNever;
    Cycle ask_again = now + 1;
    if (!start_packet(now, ask_again)) return ask_again;
  }
  if (may_block_ && !may_send(now)) return now + 1;
  to_->send(next_, now * ticks_per_cycle_);
  if (--next_.left_in_packet == 0) {
    end_packet();
  } else {
    next_.type = next_.left_in_packet == 1 ? packet_end_ : packet_body_;
  }
  return now + 1;
}

bool FlitInjectionPort::under_way(Cycle now) const {
  if (queue().empty()) return false;
  const Cycle ready = sending_ ? now : queue().packet_ready();
  return (ready > now && ready != kNever) ||
         channel_.credit_under_way((now + 1) * ticks_per_cycle_ - 1);
}

void FlitInjectionPort::end_packet() {
  sending_ = false;
  if (releases_vc(packet_end_)) vc_ = kNoVc;
  const MessageId message = queue().message();
  if (queue().packet_sent()) set_sent(message);
}

}  // namespace espalier
