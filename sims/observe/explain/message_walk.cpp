#include "sims/observe/explain/message_walk.h"

#include <algorithm>

namespace espalier {

void MessageWalk::to_issue(RecordIndex message, Trail& trail) const {
  At at{static_cast<std::uint16_t>(passages_.hops(message) - 1), last_to_arrive(message)};
  const Passage& last = passages_.find(message, at.hop, at.flit);
  Segment to_memory;
  to_memory.kind = SegmentKind::ni;
  to_memory.message = message;
  to_memory.vertex = passages_.record().messages[message].operation.to.value();
  trail.add(to_memory, passages_.cycle_of(last.left_at(at.flit)));
  while (true) {
    while (!leave_buffer(trail, message, at)) {
    }
    cross(trail, passages_.find(message, at.hop, at.flit), at.flit);
    if (at.hop == 0) break;
    --at.hop;
  }
  through_ni(trail, message, at.flit);
}

void MessageWalk::sent_to_issue(RecordIndex message, Trail& trail) const {
  through_ni(trail, message, passages_.record().messages[message].grid.flits - 1);
}

std::uint64_t MessageWalk::last_to_arrive(RecordIndex message) const {
  std::uint64_t flit = 0;
  Tick latest = 0;
  for (const Passage& passage : passages_.last_hop(message)) {
    const std::uint64_t last = passage.offset + passage.left.n - 1;
    if (passage.left_at(last) < latest) continue;
    latest = passage.left_at(last);
    flit = last;
  }
  return flit;
}

Tick MessageWalk::output_rate(const Passage& passage) const {
  if (passage.hop + 1 == passages_.hops(passage.message)) return passages_.record().ticks_per_cycle;
  const Passage& next =
      passages_.find(passage.message, static_cast<std::uint16_t>(passage.hop + 1), passage.offset);
  return passages_.record().channels[next.channel].link.ticks_per_flit;
}

Segment MessageWalk::at_output(SegmentKind kind, const Passage& passage) const {
  Segment segment;
  segment.kind = kind;
  segment.message = passage.message;
  if (passage.hop + 1 == passages_.hops(passage.message)) {
    segment.vertex = passages_.record().messages[passage.message].operation.to.value();
  } else {
    segment.channel =
        passages_.find(passage.message, static_cast<std::uint16_t>(passage.hop + 1), passage.offset)
            .channel;
  }
  return segment;
}

bool MessageWalk::leave_buffer(Trail& trail, RecordIndex message, At& at) const {
  const Passage& passage = passages_.find(message, at.hop, at.flit);
  const ChannelRecord& channel = passages_.record().channels[passage.channel];
  const Tick q = passages_.record().ticks_per_cycle;
  const Tick usable =
      passage.sent_at(at.flit) + (channel.link.latency + channel.spec.receiver_pipeline) * q;
  if (passages_.cycle_of(usable) >= trail.at()) return true;
  if (at.flit != passage.offset) {
    // The first flit that could not go before.
    trail.add(at_output(SegmentKind::serialization, passage),
              passages_.cycle_of(passage.left.start));
    at.flit = passage.offset;
    return false;
  }
  const Tick rate = output_rate(passage);
  Tick after_previous = 0;
  Cycle previous_left = 0;
  if (at.flit != 0) {
    const Tick previous = passages_.find(message, at.hop, at.flit - 1).left_at(at.flit - 1);
    // A packet on another VC may be behind this one.
    if (previous < passage.left.start) {
      after_previous = previous + rate;
      previous_left = passages_.cycle_of(previous);
    }
  }
  // From a slower channel into a faster one a packet waits until it can stream.
  const PacketGrid& grid = passages_.record().messages[message].grid;
  const Tick came_at = channel.link.ticks_per_flit;
  const bool streams = came_at > rate && grid.is_boundary(at.flit);
  const Tick ready = usable + (streams ? (grid.length_at(at.flit) - 1) * (came_at - rate) : 0);
  const Cycle could_go = std::min(trail.at(), passages_.cycle_of(std::max(ready, after_previous)));
  waits_.at_router(trail, could_go, passage, at.flit);
  if (after_previous > ready) {
    trail.add(at_output(SegmentKind::serialization, passage), previous_left);
    --at.flit;
    return false;
  }
  Segment streaming;
  streaming.kind = SegmentKind::serialization;
  streaming.message = message;
  streaming.channel = passage.channel;
  trail.add(streaming, passages_.cycle_of(usable));
  return true;
}

void MessageWalk::cross(Trail& trail, const Passage& passage, std::uint64_t flit) const {
  const ChannelRecord& channel = passages_.record().channels[passage.channel];
  const Cycle sent = passages_.cycle_of(passage.sent_at(flit));
  Segment segment;
  segment.message = passage.message;
  segment.channel = passage.channel;
  segment.kind = SegmentKind::router;
  trail.add(segment, sent + channel.link.latency);
  segment.kind = passage.hop == 0 ? SegmentKind::ni : SegmentKind::link;
  if (passage.hop == 0) {
    segment.vertex = passages_.record().messages[passage.message].operation.from.value();
    segment.channel = kNowhere;
  }
  trail.add(segment, sent);
}

void MessageWalk::through_ni(Trail& trail, RecordIndex message, std::uint64_t flit) const {
  const MessageRecord& record = passages_.record().messages[message];
  const Cycle read = record.read == kNever ? record.issued : record.read;
  Segment segment;
  segment.message = message;
  while (true) {
    const Passage& passage = passages_.find(message, 0, flit);
    segment.channel = passage.channel;
    segment.kind = SegmentKind::serialization;
    trail.add(segment, passages_.cycle_of(passage.sent.start));
    flit = passage.offset;
    Cycle after_previous = 0;
    Tick previous = 0;
    if (flit != 0) {
      previous = passages_.find(message, 0, flit - 1).sent_at(flit - 1);
      after_previous = passages_.cycle_of(
          previous + passages_.record().channels[passage.channel].link.ticks_per_flit);
    }
    waits_.at_ni(trail, std::max(read, after_previous), passage, flit);
    if (after_previous <= read) break;
    trail.add(segment, passages_.cycle_of(previous));
    --flit;
  }
  segment.kind = SegmentKind::dma;
  segment.channel = kNowhere;
  segment.vertex = record.operation.from.value();
  trail.add(segment, record.issued);
}

}  // namespace espalier
