#include "sims/observe/explain/wait_causes.h"

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

}  // namespace espalier
