// The train on one wire as its sender knows it: its position, the flits that are promised, and the
// first packet boundary at which it may have to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "flowctl/framing.h"
#include "flowctl/train/start_pattern.h"
#include "flowctl/train/train_channel.h"

namespace espalier {

class TrainSender {
 public:
  TrainSender() = default;
  // `to` is nullptr if flits leave the network here, with one flit per `ticks_per_flit`.
  TrainSender(TrainChannel* to, Tick ticks_per_flit, Tick ticks_per_cycle)
      : to_(to),
        rate_(ticks_per_flit),
        q_(ticks_per_cycle),
        pattern_(std::make_unique<StartPattern>()) {}

  [[nodiscard]] TrainChannel* to() const { return to_; }
  [[nodiscard]] Tick rate() const { return rate_; }
  // True if the wire can carry a flit in every cycle.
  [[nodiscard]] bool full_rate() const { return rate_ == q_; }
  // True if a packet is on the wire: from its start until the boundary at which it is released.
  [[nodiscard]] bool held() const { return held_; }
  // True if no packet is on the wire but more flits are promised. They follow as promised, or a cut
  // follows.
  [[nodiscard]] bool promise_open() const { return !held_ && flits_.n != 0; }
  // The tick from which the wire is free. Precondition: not held.
  [[nodiscard]] Tick free_tick() const { return free_; }
  [[nodiscard]] MessageId message() const { return message_; }
  [[nodiscard]] const PacketGrid& grid() const { return grid_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t promised() const { return offset_ + flits_.n; }
  [[nodiscard]] std::uint32_t vc() const { return vc_; }

  // Flits since offset() that have left before `tick`.
  [[nodiscard]] std::uint64_t gone_before(Tick tick) const { return flits_.before(tick); }
  // The cycle from which the resources of the packet that ends at `boundary` are free.
  [[nodiscard]] Cycle release_cycle(std::uint64_t boundary) const {
    return cycle_of_tick(flits_.tick_of(boundary - offset_ - 1), q_) + 1;
  }
  // The cycle from which the wire is free for the packet after `boundary`.
  [[nodiscard]] Cycle decision_cycle(std::uint64_t boundary) const {
    return cycle_of_tick(flits_.end_of(boundary - offset_), q_);
  }
  // The tick of promised flit offset() + `flits`.
  [[nodiscard]] Tick start_of_next(std::uint64_t flits) const { return flits_.tick_of(flits); }
  // While a promise is open: the cycle in which its next packet starts.
  [[nodiscard]] Cycle resume_cycle() const { return cycle_of_tick(flits_.tick_of(0), q_); }

  // True if a packet that is granted now continues the open promise.
  [[nodiscard]] bool continues(MessageId message, std::uint64_t offset, std::uint32_t vc,
                               Tick start) const;
  void go_on() {
    held_ = true;
    note_start(flits_.tick_of(0));
    is_noted_ = true;
  }
  // As go_on(), ahead of time: its next packet is certain to be granted at the promised tick.
  void resume() { held_ = true; }
  // Another packet is granted. Nothing is promised of its train yet.
  void take(MessageId message, const PacketGrid& grid, std::uint16_t hop, std::uint64_t offset,
            std::uint32_t vc, Tick start);
  // The data of a train from its boundary offset() + `flits` on, as they can leave: the run's flit
  // `first` is the boundary's, and a packet can start `wait` ticks after its first flit came.
  struct Data {
    const FlitRun* usable = nullptr;  // nullptr: all data are there in time
    std::uint64_t first = 0;
    Tick wait = 0;
  };
  // The train that has just been taken, as it will leave if nothing else comes. Its data are
  // announced up to `end`. `heads`: when the packets after the first are ready to stream, if they
  // are at equal distances. `in_time`: data never come later than the wire is free. `keeps_vc`: all
  // packets take the same VC, also if it has no credits. The result ends before `end` where the
  // packets follow neither their data, nor their credits, nor the pattern of the last packets.
  [[nodiscard]] FlitRun forecast(std::uint64_t end, const PacketStarts* heads, bool in_time,
                                 bool keeps_vc, CombPool& combs) const;
  // Announces the train that has just been taken.
  void promise(const FlitRun& flits);
  // `n` flits up to a boundary have left, and the wire is free for other packets.
  void release(std::uint64_t n);
  // Withdraws the promised flits after offset().
  std::uint64_t cut(Cycle now);

  // Precondition: held. The first boundary after offset() whose next packet does not leave before
  // tick `now`. In a gap the cycle of its decision may be over; who plans a check never moves it to
  // an earlier cycle.
  [[nodiscard]] std::uint64_t next_boundary(Tick now) const {
    const std::uint64_t position = offset_ + gone_before(now);
    const bool is_due = position != offset_ && grid_.is_boundary(position);
    return is_due ? position : grid_.packet_end(position);
  }
  // Boundaries in [from, limit), where boundary `from` is the first one whose packet has not left;
  // `limit` if there is none. They may be earlier than the real
  // one, but never later. The first one after which credits for a whole packet may be missing when
  // the train reaches it, or for a train that waits for credits, come earlier; according to the
  // announced credits.
  [[nodiscard]] std::uint64_t first_unsure_of_credits(std::uint64_t limit,
                                                      std::uint64_t from) const;
  // The first one after which the packet's data may come at another time than the promise says.
  // `heads`: when packets from `from` on are ready to stream; nothing if they are not at equal
  // distances.
  [[nodiscard]] std::uint64_t first_unsure_of_data(std::uint64_t limit, std::uint64_t from,
                                                   const std::optional<PacketStarts>& heads) const;
  // Neither the promise nor its credits have gaps.
  [[nodiscard]] bool is_plain() const {
    return !flits_.has_gaps() && (to_ == nullptr || !to_->credits(vc_).coming.has_gaps());
  }
  // True if the promise is a comb whose packets start at fixed ticks, or if its data or credits
  // come at uneven distances. Then one function judges both: the first boundary after which a
  // packet may start at another tick than promised. `data` from `from` on.
  [[nodiscard]] bool has_pattern(const Data& data) const;
  // Packets of a period of the promise, if they are at unequal distances; otherwise 0.
  [[nodiscard]] std::uint64_t uneven_packets() const {
    return flits_.is_even() ? 0 : flits_.comb->others.size() + 1;
  }
  [[nodiscard]] std::uint64_t first_unsure_of_pattern(std::uint64_t limit, std::uint64_t from,
                                                      const Data& data) const;

 private:
  // When a train that waits for credits starts the packets after the one that ends `flits` after
  // offset(): in the cycle in which the packet's last credit is seen. Nothing if that is not known.
  [[nodiscard]] std::optional<PacketStarts> admission(std::uint64_t flits) const;
  [[nodiscard]] std::uint64_t first_unsure_of_admission(std::uint64_t limit,
                                                        std::uint64_t from) const;
  void note_start(Tick start);
  // Notes the starts of the packets of `n` flits.
  void note_starts(std::uint64_t n);

  TrainChannel* to_ = nullptr;
  Tick rate_ = 1;
  Tick q_ = 1;
  Tick free_ = 0;
  std::uint64_t offset_ = 0;  // the last boundary accounted for
  std::uint64_t promised_from_ = 0;
  FlitRun flits_;  // the promised flits from offset_ on
  PacketGrid grid_;
  MessageId message_;
  std::uint32_t vc_ = 0;
  std::uint16_t hop_ = 0;
  bool held_ = false;
  bool is_first_ = true;   // pattern_ knows nothing of this message; first_start_ is noted
  bool is_noted_ = false;  // the start of the packet at offset_ is in pattern_
  Tick first_start_ = 0;
  std::unique_ptr<StartPattern> pattern_;  // apart, because few decisions read it
};

}  // namespace espalier
