#include "sims/observe/explain/bottleneck.h"

namespace espalier {

namespace {
// Buffers in a row: beyond that the last one found is as good an answer.
constexpr int kMostSteps = 256;
}  // namespace

std::uint32_t Bottleneck::of(RecordIndex message, std::uint16_t hop, std::uint64_t flit,
                             Cycle now) const {
  Waiting at{message, hop, flit, now};
  std::uint32_t channel = kNowhere;
  for (int step = 0; step < kMostSteps && follow(at, channel); ++step) {
  }
  return channel;
}

bool Bottleneck::follow(Waiting& at, std::uint32_t& channel) const {
  const RunRecord& record = passages_.record();
  if (at.hop == passages_.hops(at.message)) return false;  // to an NI, which takes every flit
  const Passage& next = passages_.find(at.message, at.hop, at.flit);
  channel = next.channel;
  if (at.hop == 0) {
    const MessageRecord& message = record.messages[at.message];
    if (message.read != kNever && message.read > at.now) {
      channel = kNowhere;
      return false;
    }
  } else {
    const auto before_hop = static_cast<std::uint16_t>(at.hop - 1);
    const Passage& before = passages_.find(at.message, before_hop, at.flit);
    const ChannelRecord& came_by = record.channels[before.channel];
    const Cycle sent = passages_.cycle_of(before.sent_at(at.flit));
    if (sent > at.now) {
      at.hop = before_hop;
      return true;
    }
    if (sent + came_by.link.latency + came_by.spec.receiver_pipeline > at.now) {
      channel = before.channel;
      return false;
    }
  }
  if (!passages_.sent_in(next.channel, passages_.tick_of(at.now), passages_.tick_of(at.now + 1))
           .empty())
    return false;
  if (follow_credit(at, next)) return true;
  // Whoever has the VC, or stands before it in the NI's queue, is next on the channel.
  const Passage* other = passages_.next_sent(next.channel, passages_.tick_of(at.now + 1));
  if (other == nullptr || other->message == at.message) return false;
  at = {other->message, other->hop, other->offset, at.now};
  return true;
}

bool Bottleneck::follow_credit(Waiting& at, const Passage& next) const {
  const ChannelRecord& channel = passages_.record().channels[next.channel];
  if (credits_.suffice(next, at.flit, at.now)) return false;
  const std::uint64_t back = credits_.returned(next, at.now);
  // The credit that is missing is that of the flit that leaves next.
  const Passage* leaves = passages_.next_to_leave(next.channel, next.vc, back);
  if (leaves == nullptr) return false;
  const std::uint64_t flit = leaves->offset + (back - passages_.flits_before(*leaves));
  const Cycle left = passages_.cycle_of(leaves->left_at(flit));
  const Cycle usable = passages_.cycle_of(leaves->sent_at(flit)) + channel.link.latency +
                       channel.spec.receiver_pipeline;
  // It passed without waiting: the loop itself is too long for the buffer.
  if (usable >= left) return false;
  at = {leaves->message, static_cast<std::uint16_t>(leaves->hop + 1), flit, left - 1};
  return true;
}

}  // namespace espalier
