// The train on one wire as its sender knows it: its position, the flits that are promised, and the
// first packet boundary at which it may have to stop.
#pragma once

#include <cstdint>

#include "flowctl/framing.h"
#include "flowctl/train/train_channel.h"

namespace espalier {

class TrainSender {
 public:
  TrainSender() = default;
  // `to` is nullptr if flits leave the network here, with one flit per `ticks_per_flit`.
  TrainSender(TrainChannel* to, Tick ticks_per_flit, Tick ticks_per_cycle)
      : to_(to), rate_(ticks_per_flit), q_(ticks_per_cycle) {}

  [[nodiscard]] TrainChannel* to() const { return to_; }
  [[nodiscard]] Tick rate() const { return rate_; }
  // True if the wire can carry a flit in every cycle.
  [[nodiscard]] bool full_rate() const { return rate_ == q_; }
  // True if a packet is on the wire: from its start until the boundary at which it is released.
  [[nodiscard]] bool held() const { return held_; }
  // True if no packet is on the wire but more flits are promised. They follow without a gap, or a
  // cut follows.
  [[nodiscard]] bool promise_open() const { return !held_ && promised_ > offset_; }
  // The tick from which the wire is free. While held: the tick of the last boundary accounted for.
  [[nodiscard]] Tick free_tick() const { return start_; }
  [[nodiscard]] MessageId message() const { return message_; }
  [[nodiscard]] const PacketGrid& grid() const { return grid_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t promised() const { return promised_; }
  [[nodiscard]] std::uint32_t vc() const { return vc_; }

  // Flits since offset() that have left before `tick`.
  [[nodiscard]] std::uint64_t gone_before(Tick tick) const {
    return std::min(promised_ - offset_, ticks_before(start_, rate_, tick));
  }
  // The cycle from which the resources of the packet that ends at `boundary` are free.
  [[nodiscard]] Cycle release_cycle(std::uint64_t boundary) const {
    return cycle_of_tick(start_ + (boundary - offset_ - 1) * rate_, q_) + 1;
  }
  // The cycle in which the flit after `boundary` would leave without a gap.
  [[nodiscard]] Cycle decision_cycle(std::uint64_t boundary) const {
    return cycle_of_tick(start_ + (boundary - offset_) * rate_, q_);
  }

  // True if a packet that is granted now continues the open promise.
  [[nodiscard]] bool continues(MessageId message, std::uint64_t offset, std::uint32_t vc,
                               Tick start) const;
  void go_on() { held_ = true; }
  // Another packet is granted. Nothing is promised of its train yet.
  void take(MessageId message, const PacketGrid& grid, std::uint16_t hop, std::uint64_t offset,
            std::uint32_t vc, Tick start);
  // Announces the train from offset() to `end`, which is a boundary.
  void promise(std::uint64_t end);
  // `n` flits up to a boundary have left, and the wire is free for other packets.
  void release(std::uint64_t n);
  // Withdraws the promised flits after offset().
  std::uint64_t cut(Cycle now);

  // The first boundary in (offset(), limit) after which credits for a whole packet may be missing
  // when the train reaches it, according to the announced credits; `limit` if there is none. The
  // result may be earlier than the real boundary, but never later. Precondition: held.
  [[nodiscard]] std::uint64_t first_unsure_of_credits(std::uint64_t limit) const;

 private:
  TrainChannel* to_ = nullptr;
  Tick rate_ = 1;
  Tick q_ = 1;
  Tick start_ = 0;              // of the flit at offset_
  std::uint64_t offset_ = 0;    // the last boundary accounted for
  std::uint64_t promised_ = 0;  // the receiver expects flits up to this offset
  PacketGrid grid_;
  MessageId message_;
  std::uint32_t vc_ = 0;
  std::uint16_t hop_ = 0;
  bool held_ = false;
};

}  // namespace espalier
