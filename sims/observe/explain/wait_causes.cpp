#include "sims/observe/explain/wait_causes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace espalier {

namespace {
// Ends the search in a long chain of full buffers; the last channel found is the answer then.
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
  const RunRecord& record = log_.record();
  if (at.hop == log_.hops(at.message)) return false;  // to an NI, which takes every flit
  const Passage& next = log_.find(at.message, at.hop, at.flit);
  channel = next.channel;
  if (at.hop == 0) {
    const MessageRecord& message = record.messages[at.message];
    if (message.read != kNever && message.read > at.now) {
      channel = kNowhere;
      return false;
    }
  } else {
    const auto before_hop = static_cast<std::uint16_t>(at.hop - 1);
    const Passage& before = log_.find(at.message, before_hop, at.flit);
    const ChannelRecord& came_by = record.channels[before.channel];
    const Cycle sent = log_.cycle_of(before.sent_at(at.flit));
    if (sent > at.now) {
      at.hop = before_hop;
      return true;
    }
    if (sent + came_by.link.latency + came_by.spec.receiver_pipeline > at.now) {
      channel = before.channel;
      return false;
    }
  }
  if (!log_.sent_in(next.channel, log_.tick_of(at.now), log_.tick_of(at.now + 1)).empty())
    return false;
  if (follow_credit(at, next)) return true;
  // The packet that owns the VC, or stands in front in the NI's queue, is next on the channel.
  const Passage* other = log_.next_sent(next.channel, log_.tick_of(at.now + 1));
  if (other == nullptr || other->message == at.message) return false;
  at = {other->message, other->hop, other->offset, at.now};
  return true;
}

bool Bottleneck::follow_credit(Waiting& at, const Passage& next) const {
  const ChannelRecord& channel = log_.record().channels[next.channel];
  if (credits_.suffice(next, at.flit, at.now)) return false;
  const std::uint64_t back = credits_.returned(next, at.now);
  // The missing credit comes back from the flit that leaves the buffer next.
  const Passage* leaves = log_.next_to_leave(next.channel, next.vc, back);
  if (leaves == nullptr) return false;
  const std::uint64_t flit = leaves->offset + (back - log_.flits_before(*leaves));
  const Cycle left = log_.cycle_of(leaves->left_at(flit));
  const Cycle usable =
      log_.cycle_of(leaves->sent_at(flit)) + channel.link.latency + channel.spec.receiver_pipeline;
  // That flit did not wait: the buffer is too small for the credit loop.
  if (usable >= left) return false;
  at = {leaves->message, static_cast<std::uint16_t>(leaves->hop + 1), flit, left - 1};
  return true;
}

template <class Rest>
void WaitCauses::cover(Trail& trail, Cycle from, std::vector<Busy> busy, Segment segment,
                       Rest&& rest) const {
  // Latest end first.
  std::sort(busy.begin(), busy.end(), [](const Busy& a, const Busy& b) {
    return std::tie(a.until, a.from, a.message) > std::tie(b.until, b.from, b.message);
  });
  for (const Busy& other : busy) {
    if (trail.at() <= from) return;
    if (other.from >= trail.at()) continue;
    if (other.until < trail.at()) rest(std::max(from, other.until));
    Segment served = segment;
    served.other = other.message;
    if (other.message == segment.message) {  // its own packets, on another VC
      served.kind = SegmentKind::serialization;
      served.other = served.waits_in = served.bottleneck = kNowhere;
    }
    trail.add(served, std::max(from, other.from));
  }
  if (trail.at() > from) rest(from);
}

std::vector<WaitCauses::Busy> WaitCauses::wire_busy(const std::vector<const Passage*>& passages,
                                                    FlitRun Passage::*run, const Passage& at,
                                                    std::uint64_t flit) const {
  std::vector<Busy> busy;
  for (const Passage* other : passages) {
    if (other->message == at.message && other->has(flit)) continue;
    const FlitRun& flits = other->*run;
    busy.push_back({log_.cycle_of(flits.start), log_.cycle_of(flits.tick_of(flits.n) - 1) + 1,
                    other->message});
  }
  return busy;
}

std::vector<WaitCauses::Busy> WaitCauses::input_busy(const Passage& at, Cycle from,
                                                     Cycle until) const {
  std::vector<Busy> busy;
  if (!rules_.shared_input) return busy;
  for (const Passage* other : log_.beside(at, true, log_.tick_of(from), log_.tick_of(until))) {
    if (other->vc == at.vc) continue;
    busy.push_back({log_.cycle_of(other->left.start),
                    log_.cycle_of(other->left.tick_of(other->left.n - 1)) + 1, other->message});
  }
  return busy;
}

void WaitCauses::at_router(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const {
  if (trail.at() <= from) return;
  const auto hop = static_cast<std::uint16_t>(at.hop + 1);
  const bool ejects = hop == log_.hops(at.message);
  const Passage* next = ejects ? nullptr : &log_.find(at.message, hop, flit);
  const NodeId receiver = log_.record().messages[at.message].operation.to;
  Segment segment = ejects ? Segment::at(SegmentKind::arbitration, at.message, receiver)
                           : Segment::on(SegmentKind::arbitration, at.message, next->channel);
  segment.waits_in = at.channel;
  segment.bottleneck = segment.channel;
  const auto through_output = log_.beside(at, false, log_.tick_of(from), log_.tick_of(trail.at()));
  const std::vector<Busy> output = wire_busy(through_output, &Passage::left, at, flit);
  cover(trail, from, output, segment, [&](Cycle gap) {
    cover(trail, gap, input_busy(at, gap, trail.at()), segment, [&](Cycle rest) {
      if (next != nullptr) {
        vc_wait(trail, rest, *next, flit, segment,
                {SegmentKind::arbitration, SegmentKind::allocation});
      } else {
        Segment granted_others = segment;
        granted_others.kind = SegmentKind::allocation;
        trail.add(granted_others, rest);
      }
    });
  });
}

void WaitCauses::at_ni(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const {
  if (trail.at() <= from) return;
  Segment segment = Segment::on(SegmentKind::ni_queue, at.message, at.channel);
  segment.bottleneck = at.channel;
  segment.vertex = log_.record().messages[at.message].operation.from.value();
  const auto sent = log_.sent_in(at.channel, log_.tick_of(from), log_.tick_of(trail.at()));
  cover(trail, from, wire_busy(sent, &Passage::sent, at, flit), segment, [&](Cycle gap) {
    // Messages leave an NI in order: the next message to be sent stands in front.
    const Passage* front = log_.next_sent(at.channel, log_.tick_of(trail.at()));
    if (front == nullptr || (front->message == at.message && front->has(flit))) {
      vc_wait(trail, gap, at, flit, segment, {SegmentKind::ni_queue, SegmentKind::dma});
      return;
    }
    Segment behind = segment;
    behind.other = front->message;
    behind.bottleneck = bottleneck_.of(front->message, 0, front->offset, trail.at() - 1);
    if (behind.bottleneck == kNowhere) behind.kind = SegmentKind::dma;
    trail.add(behind, gap);
  });
}

WaitCauses::Busy WaitCauses::ownership(const Passage& passage) const {
  const std::uint64_t last = passage.offset + passage.sent.n - 1;
  const PacketGrid& grid = log_.record().messages[passage.message].grid;
  std::uint64_t head = 0;
  std::uint64_t tail = grid.flits - 1;
  if (!grid.message_mode) {
    head = passage.offset;
    while (!grid.is_boundary(head)) --head;
    tail = grid.packet_end(last) - 1;
  }
  const auto sent = [&](std::uint64_t flit) {
    return log_.cycle_of(log_.find(passage.message, passage.hop, flit).sent_at(flit));
  };
  return {sent(head), sent(tail) + 1, passage.message};
}

void WaitCauses::credit_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit,
                             Segment segment, SegmentKind otherwise) const {
  while (trail.at() > from) {
    // Goes back as long as the answer is the same.
    Cycle begin = trail.at() - 1;
    const bool had = credits_.suffice(next, flit, begin);
    while (begin > from && credits_.suffice(next, flit, begin - 1) == had) --begin;
    segment.kind = had ? otherwise : SegmentKind::credit;
    segment.other = kNowhere;
    segment.bottleneck = kNowhere;
    if (segment.kind != SegmentKind::dma) {
      segment.bottleneck = bottleneck_.of(next.message, next.hop, flit, trail.at() - 1);
    }
    trail.add(segment, begin);
  }
}

void WaitCauses::vc_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit,
                         Segment segment, WaitNames names) const {
  // Earlier owners of the VC, latest first.
  for (const Passage* before = log_.before_on_vc(next); before != nullptr && trail.at() > from;
       before = log_.before_on_vc(*before)) {
    if (before->message == next.message) continue;
    const Busy owned = ownership(*before);
    credit_wait(trail, std::max(from, owned.until), next, flit, segment, names.otherwise);
    if (owned.from >= trail.at()) continue;
    Segment by_owner = segment;
    by_owner.kind = names.owner;
    by_owner.other = before->message;
    if (trail.at() > from) {
      by_owner.bottleneck = bottleneck_.of(next.message, next.hop, flit, trail.at() - 1);
    }
    trail.add(by_owner, std::max(from, owned.from));
  }
  credit_wait(trail, from, next, flit, segment, names.otherwise);
}

}  // namespace espalier
