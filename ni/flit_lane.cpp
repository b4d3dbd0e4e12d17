#include "ni/flit_lane.h"

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
  // Message mode: the VC stays with the message until its tail.
  const VcMask candidates = vc_ != kNoVc ? VcMask{1} << vc_ : vcs_ & ~taken;
  const VcChoice choice =
      choose_vc(channel_, candidates, credits_to_start(switching_, flits), now, (now + 1) * q - 1);
  if (choice.vc == kNoVc) {
    blocked_on_ = "credit";
    ask_again = choice.ask_again == kNever ? kNever : choice.ask_again / q;
    return false;
  }
  blocked_on_ = "";
  vc_ = choice.vc;
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
         channel_.credit_under_way((now + 1) * ticks_per_cycle_ - 1, vcs_);
}

}  // namespace espalier
