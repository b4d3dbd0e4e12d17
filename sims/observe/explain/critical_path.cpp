#include "sims/observe/explain/critical_path.h"

#include <algorithm>

namespace espalier {

namespace {

// Walks one message's way back through the network, from its last flit at the receiver to its
// issue. At every router it explains the wait of the flit that decided.
class MessageWalk {
 public:
  MessageWalk(const ChannelLog& log, const RouterRules& rules) : log_(log), rules_(rules) {}

  // From trail.at(), the cycle in which the whole message is visible at the receiver.
  void to_issue(RecordIndex message, Trail& trail) const {
    At at{static_cast<std::uint16_t>(log_.hops(message) - 1), last_to_arrive(message)};
    const Passage& last = log_.find(message, at.hop, at.flit);
    const NodeId receiver = log_.record().messages[message].operation.to;
    trail.add(Segment::at(SegmentKind::ni, message, receiver),
              log_.cycle_of(last.left_at(at.flit)));
    while (true) {
      while (!leave_buffer(trail, message, at)) {
      }
      cross(trail, log_.find(message, at.hop, at.flit), at.flit);
      if (at.hop == 0) break;
      --at.hop;
    }
    through_ni(trail, message, at.flit);
  }
  // From trail.at(), the cycle in which the message's last flit leaves the NI.
  void sent_to_issue(RecordIndex message, Trail& trail) const {
    through_ni(trail, message, log_.record().messages[message].grid.flits - 1);
  }

 private:
  struct At {
    std::uint16_t hop;
    std::uint64_t flit;
  };
  // The flit whose arrival completed the message; not always the last, as packets may overtake each
  // other.
  [[nodiscard]] std::uint64_t last_to_arrive(RecordIndex message) const {
    std::uint64_t flit = 0;
    Tick latest = 0;
    for (const Passage& passage : log_.last_hop(message)) {
      const std::uint64_t last = passage.offset + passage.left.n - 1;
      if (passage.left_at(last) < latest) continue;
      latest = passage.left_at(last);
      flit = last;
    }
    return flit;
  }
  // Explains why the flit left the buffer only at trail.at(): moves `at` to the flit before it, or
  // explains the time back to the flit's arrival in the buffer and returns true.
  bool leave_buffer(Trail& trail, RecordIndex message, At& at) const {
    const Passage& passage = log_.find(message, at.hop, at.flit);
    const ChannelRecord& channel = log_.record().channels[passage.channel];
    const Tick q = log_.record().ticks_per_cycle;
    const Tick usable =
        passage.sent_at(at.flit) + (channel.link.latency + channel.spec.receiver_pipeline) * q;
    if (log_.cycle_of(usable) >= trail.at()) return true;
    if (at.flit != passage.offset) {
      // The first flit that could not go before.
      trail.add(at_output(SegmentKind::serialization, passage), log_.cycle_of(passage.left.start));
      at.flit = passage.offset;
      return false;
    }
    const Tick rate = output_rate(passage);
    Tick after_previous = 0;
    Cycle previous_left = 0;
    if (at.flit != 0) {
      const Tick previous = log_.find(message, at.hop, at.flit - 1).left_at(at.flit - 1);
      // A packet on another VC may be behind this one.
      if (previous < passage.left.start) {
        after_previous = previous + rate;
        previous_left = log_.cycle_of(previous);
      }
    }
    // From a slower channel into a faster one a packet waits until it can stream.
    const PacketGrid& grid = log_.record().messages[message].grid;
    const Tick came_at = channel.link.ticks_per_flit;
    const bool streams = came_at > rate && grid.is_boundary(at.flit);
    const Tick ready = usable + (streams ? (grid.length_at(at.flit) - 1) * (came_at - rate) : 0);
    const Cycle could_go = std::min(trail.at(), log_.cycle_of(std::max(ready, after_previous)));
    wait_at_router(log_, rules_, trail, could_go, passage, at.flit);
    if (after_previous > ready) {
      trail.add(at_output(SegmentKind::serialization, passage), previous_left);
      --at.flit;
      return false;
    }
    trail.add(Segment::on(SegmentKind::serialization, message, passage.channel),
              log_.cycle_of(usable));
    return true;
  }
  // From leaving the buffer back to being sent to it.
  void cross(Trail& trail, const Passage& passage, std::uint64_t flit) const {
    const ChannelRecord& channel = log_.record().channels[passage.channel];
    const Cycle sent = log_.cycle_of(passage.sent_at(flit));
    const RecordIndex message = passage.message;
    trail.add(Segment::on(SegmentKind::router, message, passage.channel),
              sent + channel.link.latency);
    const NodeId sender = log_.record().messages[message].operation.from;
    trail.add(passage.hop == 0 ? Segment::at(SegmentKind::ni, message, sender)
                               : Segment::on(SegmentKind::link, message, passage.channel),
              sent);
  }
  // From a flit's departure to the message's issue.
  void through_ni(Trail& trail, RecordIndex message, std::uint64_t flit) const {
    const MessageRecord& record = log_.record().messages[message];
    const Cycle read = record.read == kNever ? record.issued : record.read;
    while (true) {
      const Passage& passage = log_.find(message, 0, flit);
      const Segment segment = Segment::on(SegmentKind::serialization, message, passage.channel);
      trail.add(segment, log_.cycle_of(passage.sent.start));
      flit = passage.offset;
      Cycle after_previous = 0;
      Tick previous = 0;
      if (flit != 0) {
        previous = log_.find(message, 0, flit - 1).sent_at(flit - 1);
        after_previous =
            log_.cycle_of(previous + log_.record().channels[passage.channel].link.ticks_per_flit);
      }
      wait_at_ni(log_, rules_, trail, std::max(read, after_previous), passage, flit);
      if (after_previous <= read) break;
      trail.add(segment, log_.cycle_of(previous));
      --flit;
    }
    trail.add(Segment::at(SegmentKind::dma, message, record.operation.from), record.issued);
  }
  // Ticks from one flit to the next at the output that the flits of `passage` take.
  [[nodiscard]] Tick output_rate(const Passage& passage) const {
    if (passage.hop + 1 == log_.hops(passage.message)) return log_.record().ticks_per_cycle;
    const Passage& next =
        log_.find(passage.message, static_cast<std::uint16_t>(passage.hop + 1), passage.offset);
    return log_.record().channels[next.channel].link.ticks_per_flit;
  }
  [[nodiscard]] Segment at_output(SegmentKind kind, const Passage& passage) const {
    const RecordIndex message = passage.message;
    const auto hop = static_cast<std::uint16_t>(passage.hop + 1);
    if (hop == log_.hops(message)) {
      return Segment::at(kind, message, log_.record().messages[message].operation.to);
    }
    return Segment::on(kind, message, log_.find(message, hop, passage.offset).channel);
  }

  const ChannelLog& log_;
  const RouterRules& rules_;
};

// Explains the time that a Reduce took to be added. A Gather needs no addition.
void back_from_memory(const RunRecord& record, RecordIndex message, Trail& trail) {
  const MessageRecord& done = record.messages[message];
  if (done.operation.on_arrival != TransferKind::reduce) return;
  trail.add(Segment::at(SegmentKind::reduction, message, done.operation.to), done.adding);
}

void back_through_hold(const RunRecord& record, RecordIndex message, Trail& trail) {
  const MessageRecord& held = record.messages[message];
  trail.add(Segment::at(SegmentKind::dependency, message, held.operation.to), held.visible);
}

class MessageBacktrack : public Backtrack {
 public:
  MessageBacktrack(const RecordedRun& run, const IssueCauses& causes)
      : Backtrack(run), causes_(causes) {}

  [[nodiscard]] PathEvent before(PathEvent event, Trail& trail) const override {
    switch (event.kind) {
      case PathEvent::Kind::done:
        return before_done(run().index.last_done(event.message), trail);
      case PathEvent::Kind::sent:
        run().back_from_sent(run().index.last_sent(event.message), trail);
        return {PathEvent::Kind::issued, event.message};
      case PathEvent::Kind::issued:
        return causes_.back_from_issue(run().record.messages[event.message].whole, trail);
      default:
        return {};
    }
  }

 private:
  [[nodiscard]] PathEvent before_done(RecordIndex message, Trail& trail) const {
    back_from_memory(run().record, message, trail);
    const MessageRecord& done = run().record.messages[message];
    if (trail.at() > done.visible) {
      if (done.held_for != kNowhere) return run().index.event_at(done.operation.to, done.held_for);
      if (const auto event = causes_.back_from_hold(message, trail)) return *event;
      back_through_hold(run().record, message, trail);
    }
    run().back_to_issue(message, trail);
    return {PathEvent::Kind::issued, message};
  }

  const IssueCauses& causes_;
};

}  // namespace

void RecordedRun::back_to_issue(RecordIndex message, Trail& trail) const {
  MessageWalk(log, rules_).to_issue(message, trail);
}

void RecordedRun::back_from_sent(RecordIndex message, Trail& trail) const {
  MessageWalk(log, rules_).sent_to_issue(message, trail);
}

std::vector<Segment> RecordedRun::account_of(RecordIndex message) const {
  const MessageRecord& done = record.messages[message];
  Trail trail(done.done, done.issued);
  back_from_memory(record, message, trail);
  back_through_hold(record, message, trail);
  back_to_issue(message, trail);
  return trail.take();
}

std::pair<Cycle, PathEvent> Backtrack::last_at(NodeId ni) const {
  std::pair<Cycle, PathEvent> last{};
  const auto take = [&last](Cycle at, PathEvent event) {
    if (at > last.first) last = {at, event};
  };
  for (const RecordIndex m : run_.index.to(ni)) {
    take(run_.index.done(m), {PathEvent::Kind::done, m});
  }
  for (const RecordIndex m : run_.index.of(ni)) {
    take(run_.index.sent(m), {PathEvent::Kind::sent, m});
  }
  return last;
}

TimePath Backtrack::whole_run() const {
  Cycle first_issue = kNever;
  Cycle last_delivery = 0;
  PathEvent event{PathEvent::Kind::done, kNowhere};
  for (const MessageRecord& message : run_.record.messages) {
    if (message.operation.is_background()) continue;
    first_issue = std::min(first_issue, message.issued);
    if (event.message != kNowhere && message.done <= last_delivery) continue;
    last_delivery = message.done;
    event.message = message.whole;
  }
  return path(first_issue, last_delivery, event);
}

TimePath Backtrack::path(Cycle from, Cycle to, PathEvent event) const {
  Trail trail(to, 0);
  while (trail.at() > from && event.kind != PathEvent::Kind::start) event = before(event, trail);
  // The walk reached a start too early: the rest of the time is unexplained.
  trail.add({}, from);
  TimePath path{from, to, trail.take()};
  std::vector<Segment>& all = path.segments;
  all.erase(all.begin(), std::find_if(all.begin(), all.end(),
                                      [&](const Segment& segment) { return segment.to > from; }));
  if (!all.empty()) all.front().from = std::max(all.front().from, from);
  return path;
}

std::unique_ptr<Backtrack> message_backtrack(const RecordedRun& run, const IssueCauses& causes) {
  return std::make_unique<MessageBacktrack>(run, causes);
}

}  // namespace espalier
