#include "sims/observe/explain/critical_path.h"

#include <algorithm>
#include <tuple>

namespace espalier {

namespace {

// Ends the search in a long chain of full buffers; the last channel found is the answer then.
constexpr int kMostSteps = 256;

// Explains a wait: another packet had the output, the crossbar input or the VC, or credits were
// missing.
class WaitCauses {
 public:
  WaitCauses(const ChannelLog& log, const RouterRules& rules) : log_(log), rules_(rules) {}

  // Explains [from, trail.at()): flit `flit` of `at`'s message is in the buffer behind `at`, could
  // leave in cycle `from`, and leaves in cycle trail.at().
  void at_router(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const {
    if (trail.at() <= from) return;
    const auto hop = static_cast<std::uint16_t>(at.hop + 1);
    const bool ejects = hop == log_.hops(at.message);
    const Passage* next = ejects ? nullptr : &log_.find(at.message, hop, flit);
    const NodeId receiver = log_.record().messages[at.message].operation.to;
    Segment segment = ejects ? Segment::at(SegmentKind::arbitration, at.message, receiver)
                             : Segment::on(SegmentKind::arbitration, at.message, next->channel);
    segment.waits_in = at.channel;
    segment.bottleneck = segment.channel;
    const auto through_output =
        log_.beside(at, false, log_.tick_of(from), log_.tick_of(trail.at()));
    const std::vector<Busy> output = wire_busy(through_output, &Passage::left, at, flit);
    cover(trail, from, output, segment, [&](Cycle gap) {
      cover(trail, gap, input_busy(at, gap, trail.at()), segment, [&](Cycle rest) {
        if (next != nullptr) {
          vc_wait(trail, rest, *next, flit, segment,
                  {SegmentKind::arbitration, SegmentKind::allocation});
        } else {
          trail.add(segment.as(SegmentKind::allocation), rest);
        }
      });
    });
  }
  // Explains the same span for a flit that its NI could send over the channel of `at`. A cycle
  // without another reason counts as the DMA engine's.
  void at_ni(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const {
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
      behind.bottleneck = bottleneck(front->message, 0, front->offset, trail.at() - 1);
      if (behind.bottleneck == kNowhere) behind.kind = SegmentKind::dma;
      trail.add(behind, gap);
    });
  }

 private:
  // Cycles in which another message had a resource.
  struct Busy {
    Cycle from;
    Cycle until;
    RecordIndex message;
  };
  // An output's wire, or an injection channel's: `passages` over it without flit `flit` of `at`'s
  // message. `run`: the flits of each passage on that wire.
  [[nodiscard]] std::vector<Busy> wire_busy(const std::vector<const Passage*>& passages,
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
  [[nodiscard]] std::vector<Busy> input_busy(const Passage& at, Cycle from, Cycle until) const {
    std::vector<Busy> busy;
    if (!rules_.shared_input) return busy;
    for (const Passage* other : log_.beside(at, true, log_.tick_of(from), log_.tick_of(until))) {
      if (other->vc == at.vc) continue;
      busy.push_back({log_.cycle_of(other->left.start),
                      log_.cycle_of(other->left.tick_of(other->left.n - 1)) + 1, other->message});
    }
    return busy;
  }
  struct WaitNames {
    SegmentKind owner;      // another packet owns the VC
    SegmentKind otherwise;  // nothing is in the way
  };
  // Explains the part of [from, trail.at()) that `busy` covers as `segment`, with the message that
  // had the resource; calls `rest(from)` for each gap.
  template <class Rest>
  void cover(Trail& trail, Cycle from, std::vector<Busy> busy, Segment segment, Rest&& rest) const {
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
  // Explains [from, trail.at()), in which output and crossbar input were free: by the VC's owner,
  // by missing credits, or by `names.otherwise`.
  void vc_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit, Segment segment,
               WaitNames names) const {
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
        by_owner.bottleneck = bottleneck(next.message, next.hop, flit, trail.at() - 1);
      }
      trail.add(by_owner, std::max(from, owned.from));
    }
    credit_wait(trail, from, next, flit, segment, names.otherwise);
  }
  // The cycles in which the packet of a passage (in message mode the message) owned its VC: from
  // its head to its tail.
  [[nodiscard]] Busy ownership(const Passage& passage) const {
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
  // Explains [from, trail.at()), in which the VC was free: credits were missing, or `otherwise`.
  void credit_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit,
                   Segment segment, SegmentKind otherwise) const {
    while (trail.at() > from) {
      // Goes back as long as the answer is the same.
      Cycle begin = trail.at() - 1;
      const bool had = suffice(next, flit, begin);
      while (begin > from && suffice(next, flit, begin - 1) == had) --begin;
      segment.kind = had ? otherwise : SegmentKind::credit;
      segment.other = kNowhere;
      segment.bottleneck = kNowhere;
      if (segment.kind != SegmentKind::dma) {
        segment.bottleneck = bottleneck(next.message, next.hop, flit, trail.at() - 1);
      }
      trail.add(segment, begin);
    }
  }

  // The channel that holds up a waiting flit: follows full buffers downstream to the channel on
  // which flits were moving at that time. Flit `flit` of `message` has not been sent over its
  // `hop`-th channel by the end of cycle `now`. kNowhere if it waits for memory, not for a channel.
  [[nodiscard]] std::uint32_t bottleneck(RecordIndex message, std::uint16_t hop, std::uint64_t flit,
                                         Cycle now) const {
    Waiting at{message, hop, flit, now};
    std::uint32_t channel = kNowhere;
    for (int step = 0; step < kMostSteps && follow(at, channel); ++step) {
    }
    return channel;
  }
  struct Waiting {
    RecordIndex message;
    std::uint16_t hop;
    std::uint64_t flit;
    Cycle now;
  };
  // Moves `at` to the flit that it waits for; false once `channel` is the answer.
  bool follow(Waiting& at, std::uint32_t& channel) const {
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
  bool follow_credit(Waiting& at, const Passage& next) const {
    const ChannelRecord& channel = log_.record().channels[next.channel];
    if (suffice(next, at.flit, at.now)) return false;
    const std::uint64_t back = returned(next, at.now);
    // The missing credit comes back from the flit that leaves the buffer next.
    const Passage* leaves = log_.next_to_leave(next.channel, next.vc, back);
    if (leaves == nullptr) return false;
    const std::uint64_t flit = leaves->offset + (back - log_.flits_before(*leaves));
    const Cycle left = log_.cycle_of(leaves->left_at(flit));
    const Cycle usable = log_.cycle_of(leaves->sent_at(flit)) + channel.link.latency +
                         channel.spec.receiver_pipeline;
    // That flit did not wait: the buffer is too small for the credit loop.
    if (usable >= left) return false;
    at = {leaves->message, static_cast<std::uint16_t>(leaves->hop + 1), flit, left - 1};
    return true;
  }
  // The credits of a VC as its sender saw them, in any cycle of the run. First: flits that had left
  // the buffer at the end of `next`'s channel, as the sender saw it.
  [[nodiscard]] std::uint64_t returned(const Passage& next, Cycle now) const {
    const Cycle loop = spec(next).credit_latency;
    if (now < loop) return 0;
    return log_.left_before(next.channel, next.vc, log_.tick_of(now + 1 - loop));
  }
  // The sender had enough credits in cycle `now` for flit `flit` of `next`, and the rest of its
  // packet.
  [[nodiscard]] bool suffice(const Passage& next, std::uint64_t flit, Cycle now) const {
    const PacketGrid& grid = log_.record().messages[next.message].grid;
    const bool begins = rules_.whole_packets && grid.is_boundary(flit);
    const std::uint64_t sent = log_.sent_before(next.channel, next.vc, log_.tick_of(now));
    return spec(next).depth_of(next.vc) + returned(next, now) - sent >=
           (begins ? grid.length_at(flit) : 1);
  }
  [[nodiscard]] const ChannelSpec& spec(const Passage& next) const {
    return log_.record().channels[next.channel].spec;
  }

  const ChannelLog& log_;
  const RouterRules& rules_;
};

}  // namespace

void wait_at_router(const ChannelLog& log, const RouterRules& rules, Trail& trail, Cycle from,
                    const Passage& at, std::uint64_t flit) {
  WaitCauses(log, rules).at_router(trail, from, at, flit);
}

void wait_at_ni(const ChannelLog& log, const RouterRules& rules, Trail& trail, Cycle from,
                const Passage& at, std::uint64_t flit) {
  WaitCauses(log, rules).at_ni(trail, from, at, flit);
}

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
