#include "ni/injection_port.h"

#include <algorithm>

namespace espalier {

InjectionPort::InjectionPort(Channel& channel, const InjectionSpec& spec)
    : may_block_(channel.may_refuse() || spec.switching == Switching::wormhole),
      ticks_per_cycle_(channel.spec().ticks_per_cycle),
      channel_(channel),
      spec_(spec) {}

void InjectionPort::enqueue(MessageId message, Bytes bytes) {
  queue_.push_back({message, Framing(spec_.framing, bytes)});
}

void InjectionPort::fetch_all(Cycle ready) {
  for (auto send = queue_.rbegin(); send != queue_.rend() && send->fetched_packets == 0; ++send) {
    send->fetched_packets = send->framing.packets();
    send->ready = ready;
  }
}

Bytes InjectionPort::next_fetch() const {
  for (const Send& send : queue_) {
    if (send.fetched_packets == send.framing.packets()) continue;
    const std::uint32_t flits = send.framing.flits_in_packet(send.fetched_packets);
    // A buffer smaller than a packet still holds one.
    if (buffered_flits_ != 0 && buffered_flits_ + flits > spec_.buffer_flits) return 0;
    return send.framing.payload_of_packet(send.fetched_packets);
  }
  return 0;
}

void InjectionPort::fetched(Cycle ready) {
  const auto send = std::find_if(queue_.begin(), queue_.end(), [](const Send& s) {
    return s.fetched_packets != s.framing.packets();
  });
  buffered_flits_ += send->framing.flits_in_packet(send->fetched_packets);
  ++send->fetched_packets;
  ready_.push_back(ready);
}

Cycle InjectionPort::packet_ready() const {
  const Send& send = queue_.front();
  if (send.fetched_packets <= packet_) return kNever;
  return ready_.empty() ? send.ready : ready_.front();
}

bool InjectionPort::start_packet(Cycle now, Cycle& ask_again) {
  const Cycle ready = packet_ready();
  if (ready > now) {
    blocked_on_ = "dma";
    ask_again = ready;
    return false;
  }
  const Framing& framing = queue_.front().framing;
  const std::uint32_t flits = framing.flits_in_packet(packet_);
  const Tick q = ticks_per_cycle_;
  // Message mode: the VC stays with the message until its tail.
  const VcMask all = static_cast<VcMask>((std::uint64_t{1} << channel_.spec().vcs) - 1);
  const VcMask candidates = vc_ != kNoVc ? VcMask{1} << vc_ : all;
  const VcChoice choice = choose_vc(channel_, candidates, credits_to_start(spec_.switching, flits),
                                    now, (now + 1) * q - 1);
  if (choice.vc == kNoVc) {
    blocked_on_ = "credit";
    ask_again = choice.ask_again / q;
    return false;
  }
  blocked_on_ = "";
  vc_ = choice.vc;
  to_ = &channel_.vc(vc_);
  sending_ = true;
  next_ = {queue_.front().message, static_cast<std::uint16_t>(flits), 0,
           framing.type_of(packet_, 0)};
  packet_body_ = framing.message_mode() ? FlitType::sub_body : FlitType::body;
  packet_end_ = framing.type_of(packet_, flits - 1);
  flits_ += flits;
  head_flits_ += carries_header(next_.type) ? 1U : 0U;
  return true;
}

bool InjectionPort::may_send(Cycle now) const {
  return channel_.ready(now) && (spec_.switching == Switching::vct ||
                                 to_->buffer().has_room(1, (now + 1) * ticks_per_cycle_ - 1));
}

Cycle InjectionPort::evaluate(Cycle now) {
  if (!sending_) {
    if (queue_.empty()) return kNever;
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

bool InjectionPort::under_way(Cycle now) const {
  if (queue_.empty()) return false;
  const Cycle ready = sending_ ? now : packet_ready();
  return (ready > now && ready != kNever) ||
         channel_.credit_under_way((now + 1) * ticks_per_cycle_ - 1);
}

void InjectionPort::end_packet() {
  const Framing& framing = queue_.front().framing;
  if (!ready_.empty()) {
    ready_.pop_front();
    buffered_flits_ -= framing.flits_in_packet(packet_);
  }
  sending_ = false;
  if (releases_vc(packet_end_)) vc_ = kNoVc;
  if (++packet_ == framing.packets()) {
    packet_ = 0;
    sent_ = queue_.front().message;
    queue_.pop_front();
  }
}

}  // namespace espalier
