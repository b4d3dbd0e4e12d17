#include "sims/explain/wait_causes.h"

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
    segment.other = other.message;
    trail.add(segment, std::max(from, other.from));
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
  if (next != nullptr) segment.channel = segment.bottleneck = next->channel;
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

Cycle WaitCauses::owned_until(const Passage& next) const {
  const Passage* before = passages_.before_on_vc(next);
  if (before == nullptr || before->message == next.message) return 0;
  const std::uint64_t last = before->offset + before->sent.n - 1;
  const PacketGrid& grid = passages_.record().messages[before->message].grid;
  const std::uint64_t tail = (grid.message_mode ? grid.flits : grid.packet_end(last)) - 1;
  return passages_.cycle_of(passages_.find(before->message, before->hop, tail).sent_at(tail)) + 1;
}

void WaitCauses::vc_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit,
                         Segment segment, WaitNames names) const {
  const Cycle owned = std::max(from, owned_until(next));
  Cycle begin = trail.at();  // of what is the same up to trail.at()
  const auto explain = [&](SegmentKind kind, RecordIndex other) {
    if (begin == trail.at()) return;
    segment.kind = kind;
    segment.other = other;
    segment.bottleneck = kNowhere;
    if (kind != SegmentKind::dma) {
      segment.bottleneck = bottleneck_.of(next.message, next.hop, flit, trail.at() - 1);
    }
    trail.add(segment, begin);
  };
  bool had_credits = false;
  while (begin > owned) {
    const bool has = credits_.suffice(next, flit, begin - 1);
    if (has != had_credits) explain(had_credits ? names.otherwise : SegmentKind::credit, kNowhere);
    had_credits = has;
    --begin;
  }
  explain(had_credits ? names.otherwise : SegmentKind::credit, kNowhere);
  if (trail.at() <= from) return;
  begin = from;
  explain(names.owner, passages_.before_on_vc(next)->message);
}

}  // namespace espalier
