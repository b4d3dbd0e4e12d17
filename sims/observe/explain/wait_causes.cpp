#include "sims/observe/explain/wait_causes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace espalier {

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

std::vector<WaitCauses::Busy> WaitCauses::output_busy(const Passage& at, std::uint64_t flit,
                                                      Cycle from, Cycle until) const {
  std::vector<Busy> busy;
  for (const Passage* other :
       passages_.beside(at, false, passages_.tick_of(from), passages_.tick_of(until))) {
    if (other->message == at.message && other->has(flit)) continue;
    busy.push_back({passages_.cycle_of(other->left.start),
                    passages_.cycle_of(other->left_until() - 1) + 1, other->message});
  }
  return busy;
}

std::vector<WaitCauses::Busy> WaitCauses::input_busy(const Passage& at, Cycle from,
                                                     Cycle until) const {
  std::vector<Busy> busy;
  if (!rules_.shared_input) return busy;
  for (const Passage* other :
       passages_.beside(at, true, passages_.tick_of(from), passages_.tick_of(until))) {
    if (other->vc == at.vc) continue;
    busy.push_back({passages_.cycle_of(other->left.start),
                    passages_.cycle_of(other->left.tick_of(other->left.n - 1)) + 1,
                    other->message});
  }
  return busy;
}

std::vector<WaitCauses::Busy> WaitCauses::injection_busy(const Passage& at, std::uint64_t flit,
                                                         Cycle from, Cycle until) const {
  std::vector<Busy> busy;
  for (const Passage* other :
       passages_.sent_in(at.channel, passages_.tick_of(from), passages_.tick_of(until))) {
    if (other->message == at.message && other->has(flit)) continue;
    busy.push_back({passages_.cycle_of(other->sent.start),
                    passages_.cycle_of(other->sent.tick_of(other->sent.n) - 1) + 1,
                    other->message});
  }
  return busy;
}

void WaitCauses::at_router(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const {
  if (trail.at() <= from) return;
  const auto hop = static_cast<std::uint16_t>(at.hop + 1);
  const bool ejects = hop == passages_.hops(at.message);
  const Passage* next = ejects ? nullptr : &passages_.find(at.message, hop, flit);
  Segment segment;
  segment.kind = SegmentKind::arbitration;
  segment.message = at.message;
  segment.waits_in = at.channel;
  if (next != nullptr) {
    segment.channel = segment.bottleneck = next->channel;
  } else {
    segment.vertex = passages_.record().messages[at.message].operation.to.value();
  }
  cover(trail, from, output_busy(at, flit, from, trail.at()), segment, [&](Cycle gap) {
    cover(trail, gap, input_busy(at, gap, trail.at()), segment, [&](Cycle rest) {
      if (next != nullptr) {
        vc_wait(trail, rest, *next, flit, segment,
                {SegmentKind::arbitration, SegmentKind::allocation});
      } else {
        Segment unknown = segment;
        unknown.kind = SegmentKind::allocation;
        trail.add(unknown, rest);
      }
    });
  });
}

void WaitCauses::at_ni(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const {
  if (trail.at() <= from) return;
  Segment segment;
  segment.kind = SegmentKind::ni_queue;
  segment.message = at.message;
  segment.channel = segment.bottleneck = at.channel;
  segment.vertex = passages_.record().messages[at.message].operation.from.value();
  cover(trail, from, injection_busy(at, flit, from, trail.at()), segment, [&](Cycle gap) {
    // Messages leave an NI in order: whoever is sent next stands in front.
    const Passage* front = passages_.next_sent(at.channel, passages_.tick_of(trail.at()));
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
  const PacketGrid& grid = passages_.record().messages[passage.message].grid;
  std::uint64_t head = 0;
  std::uint64_t tail = grid.flits - 1;
  if (!grid.message_mode) {
    head = passage.offset;
    while (!grid.is_boundary(head)) --head;
    tail = grid.packet_end(last) - 1;
  }
  const auto sent = [&](std::uint64_t flit) {
    return passages_.cycle_of(passages_.find(passage.message, passage.hop, flit).sent_at(flit));
  };
  return {sent(head), sent(tail) + 1, passage.message};
}

void WaitCauses::credit_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit,
                             Segment segment, SegmentKind otherwise) const {
  while (trail.at() > from) {
    // As long as it is the same.
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
  // Whoever had the VC before, one after the other.
  for (const Passage* before = passages_.before_on_vc(next); before != nullptr && trail.at() > from;
       before = passages_.before_on_vc(*before)) {
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
