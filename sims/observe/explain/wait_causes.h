// Why a flit that was ready did not move, from the record of what passed each channel.
#pragma once

#include <cstdint>
#include <vector>

#include "sims/observe/explain/channel_log.h"
#include "sims/observe/explain/segment.h"

namespace espalier {

// The credits of a VC as its sender saw them, in any cycle of a run.
class CreditHistory {
 public:
  // `log` must outlive it. `whole_packets`: virtual cut-through asks for credits for a packet,
  // wormhole for a flit.
  CreditHistory(const ChannelLog& log, bool whole_packets)
      : log_(log), whole_packets_(whole_packets) {}

  // Flits that had left the buffer at the end of `next`'s channel, as the sender saw it.
  [[nodiscard]] std::uint64_t returned(const Passage& next, Cycle now) const {
    const Cycle loop = spec(next).credit_latency;
    if (now < loop) return 0;
    return log_.left_before(next.channel, next.vc, log_.tick_of(now + 1 - loop));
  }
  // The sender had enough credits in cycle `now` for flit `flit` of `next`, and the rest of its
  // packet.
  [[nodiscard]] bool suffice(const Passage& next, std::uint64_t flit, Cycle now) const {
    const PacketGrid& grid = log_.record().messages[next.message].grid;
    const bool begins = whole_packets_ && grid.is_boundary(flit);
    const std::uint64_t sent = log_.sent_before(next.channel, next.vc, log_.tick_of(now));
    return spec(next).depth_of(next.vc) + returned(next, now) - sent >=
           (begins ? grid.length_at(flit) : 1);
  }

 private:
  [[nodiscard]] const ChannelSpec& spec(const Passage& next) const {
    return log_.record().channels[next.channel].spec;
  }

  const ChannelLog& log_;
  bool whole_packets_;
};

// Finds the channel that holds up a waiting flit: it follows full buffers downstream to the channel
// on which flits were moving at that time.
class Bottleneck {
 public:
  // Both must outlive it.
  Bottleneck(const ChannelLog& log, const CreditHistory& credits) : log_(log), credits_(credits) {}

  // Flit `flit` of `message` has not been sent over its `hop`-th channel by the end of cycle `now`.
  // kNowhere if it waits for memory, not for a channel.
  [[nodiscard]] std::uint32_t of(RecordIndex message, std::uint16_t hop, std::uint64_t flit,
                                 Cycle now) const;

 private:
  struct Waiting {
    RecordIndex message;
    std::uint16_t hop;
    std::uint64_t flit;
    Cycle now;
  };
  // Moves `at` to the flit that it waits for; false once `channel` is the answer.
  bool follow(Waiting& at, std::uint32_t& channel) const;
  bool follow_credit(Waiting& at, const Passage& next) const;

  const ChannelLog& log_;
  const CreditHistory& credits_;
};

struct RouterRules {
  bool shared_input = true;   // the VCs of a port share a crossbar input
  bool whole_packets = true;  // virtual cut-through: credits for a packet, not for a flit
};

// Explains a wait: another packet had the output, the crossbar input or the VC, or credits were
// missing.
class WaitCauses {
 public:
  WaitCauses(const ChannelLog& log, const RouterRules& rules)
      : log_(log), rules_(rules), credits_(log, rules.whole_packets), bottleneck_(log, credits_) {}
  WaitCauses(const WaitCauses&) = delete;  // bottleneck_ refers to credits_
  WaitCauses& operator=(const WaitCauses&) = delete;

  // Explains [from, trail.at()): flit `flit` of `at`'s message is in the buffer behind `at`, could
  // leave in cycle `from`, and leaves in cycle trail.at().
  void at_router(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const;
  // Explains the same span for a flit that its NI could send over the channel of `at`. A cycle
  // without another reason counts as the DMA engine's.
  void at_ni(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const;

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
                                            std::uint64_t flit) const;
  [[nodiscard]] std::vector<Busy> input_busy(const Passage& at, Cycle from, Cycle until) const;
  struct WaitNames {
    SegmentKind owner;      // another packet owns the VC
    SegmentKind otherwise;  // nothing is in the way
  };
  // Explains the part of [from, trail.at()) that `busy` covers as `segment`, with the message that
  // had the resource; calls `rest(from)` for each gap.
  template <class Rest>
  void cover(Trail& trail, Cycle from, std::vector<Busy> busy, Segment segment, Rest&& rest) const;
  // Explains [from, trail.at()), in which output and crossbar input were free: by the VC's owner,
  // by missing credits, or by `names.otherwise`.
  void vc_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit, Segment segment,
               WaitNames names) const;
  // The cycles in which the packet of a passage (in message mode the message) owned its VC: from
  // its head to its tail.
  [[nodiscard]] Busy ownership(const Passage& passage) const;
  // Explains [from, trail.at()), in which the VC was free: credits were missing, or `otherwise`.
  void credit_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit,
                   Segment segment, SegmentKind otherwise) const;

  const ChannelLog& log_;
  RouterRules rules_;
  CreditHistory credits_;
  Bottleneck bottleneck_;
};

}  // namespace espalier
