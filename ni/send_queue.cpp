#include "ni/send_queue.h"

#include <algorithm>
#include <iterator>

namespace espalier {

void SendQueue::push(MessageId message, const Framing& framing, VcMask vcs, std::uint64_t rank) {
  auto place = sends_.end();
  // Packets that were read one by one leave in the order in which they were read.
  const auto may_pass = [&](const Send& other) {
    return other.rank > rank && (ready_.empty() || other.fetched_packets == 0);
  };
  while (place - sends_.begin() > 1 && may_pass(*std::prev(place))) --place;
  Send send{message, framing, vcs};
  send.rank = rank;
  sends_.insert(place, send);
}

void SendQueue::fetch_all(Cycle ready) {
  for (Send& send : sends_) {
    if (send.fetched_packets != 0) continue;
    send.fetched_packets = send.framing.packets();
    send.ready = ready;
  }
}

Bytes SendQueue::next_fetch() const {
  for (const Send& send : sends_) {
    if (send.fetched_packets == send.framing.packets()) continue;
    const std::uint32_t flits = send.framing.flits_in_packet(send.fetched_packets);
    // A buffer smaller than a packet still holds one packet.
    if (buffered_flits_ != 0 && buffered_flits_ + flits > spec_.buffer_flits) return 0;
    return send.framing.payload_of_packet(send.fetched_packets);
  }
  return 0;
}

void SendQueue::fetched(Cycle ready) {
  const auto send = std::find_if(sends_.begin(), sends_.end(), [](const Send& s) {
    return s.fetched_packets != s.framing.packets();
  });
  buffered_flits_ += send->framing.flits_in_packet(send->fetched_packets);
  ++send->fetched_packets;
  ready_.push_back(ready);
}

Cycle SendQueue::packet_ready() const {
  const Send& send = sends_.front();
  if (send.fetched_packets <= packet_) return kNever;
  return ready_.empty() ? send.ready : ready_.front();
}

bool SendQueue::packet_sent() {
  const Framing& framing = sends_.front().framing;
  if (!ready_.empty()) {
    ready_.pop_front();
    buffered_flits_ -= framing.flits_in_packet(packet_);
  }
  if (++packet_ != framing.packets()) return false;
  packet_ = 0;
  remove_first();
  return true;
}

Cycle SendQueue::pushed_at_best() const {
  const Send& send = sends_[released_];
  if (send.fetched_packets != send.framing.packets()) return kNever;
  return push_begins_ + send.framing.packets();
}

std::uint64_t SendQueue::flits_in_the_way() const {
  if (one_by_one()) return 0;  // the DMA engine has found room for the packets
  const Framing& last = sends_[released_].framing;
  const std::uint64_t room = std::max(spec_.buffer_flits, last.flits_in_packet(last.packets() - 1));
  std::uint64_t flits = 0;
  for (std::size_t s = 0; s <= released_; ++s) flits += sends_[s].framing.flits();
  return flits <= room ? 0 : std::min(flits - room, sends_.front().framing.flits());
}

}  // namespace espalier
