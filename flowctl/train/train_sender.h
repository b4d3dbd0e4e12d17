// The train on one wire, as its sender knows it: how far it has come, how far it was promised, and
// the first packet boundary at which it may have to stop.
#pragma once

#include <cstdint>

#include "flowctl/framing.h"
#include "flowctl/train/train_channel.h"

namespace espalier {

class TrainSender {
 public:
  TrainSender() = default;
  // `to` nullptr: flits leave the network here, at one flit per `ticks_per_flit`.
  TrainSender(TrainChannel* to, Tick ticks_per_flit, Tick ticks_per_cycle)
      : to_(to), rate_(ticks_per_flit), q_(ticks_per_cycle) {}

  [[nodiscard]] TrainChannel* to() const { return to_; }
  [[nodiscard]] Tick rate() const { return rate_; }
  // The wire carries a flit in every cycle.
  [[nodiscard]] bool full_rate() const { return rate_ == q_; }
  // A packet is on the wire: between start and the boundary at which it was released.
  [[nodiscard]] bool held() const { return held_; }
  // Not held, but more flits are promised: they go on without a gap, or a cut follows.
  [[nodiscard]] bool promise_open() const { return !held_ && promised_ > offset_; }
  // The wire is free from this tick on (where held: since the last boundary accounted for).
  [[nodiscard]] Tick free_tick() const { return start_; }
  [[nodiscard]] MessageId message() const { return message_; }
  [[nodiscard]] const PacketGrid& grid() const { return grid_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t promised() const { return promised_; }
  [[nodiscard]] std::uint32_t vc() const { return vc_; }

  // Flits that have left before `tick`, since offset().
  [[nodiscard]] std::uint64_t gone_before(Tick tick) const {
    return std::min(promised_ - offset_, ticks_before(start_, rate_, tick));
  }
  // Cycle in which the packet that ends at `boundary` has left: its resources are free from then
  // on.
  [[nodiscard]] Cycle release_cycle(std::uint64_t boundary) const {
    return cycle_of_tick(start_ + (boundary - offset_ - 1) * rate_, q_) + 1;
  }
  // Cycle in which the flit behind `boundary` would leave without a gap.
  [[nodiscard]] Cycle decision_cycle(std::uint64_t boundary) const {
    return cycle_of_tick(start_ + (boundary - offset_) * rate_, q_);
  }

  // A packet is granted that goes on where the open promise stands.
  [[nodiscard]] bool continues(MessageId message, std::uint64_t offset, std::uint32_t vc,
                               Tick start) const;
  void go_on() { held_ = true; }
  // Another packet is granted: nothing is promised of its train yet.
  void take(MessageId message, const PacketGrid& grid, std::uint16_t hop, std::uint64_t offset,
            std::uint32_t vc, Tick start);
  // Announces the train from offset() on, up to `end`, a boundary.
  void promise(std::uint64_t end);
  // `n` flits up to a boundary have left, and the wire is free for other packets.
  void release(std::uint64_t n);
  // What was promised beyond offset() does not come.
  std::uint64_t cut(Cycle now);

  // The first boundary in (offset(), limit) behind which credits for a whole packet may be missing
  // when it is reached, as far as they are announced; `limit` if none. It may lie before the truth,
  // never behind it. Precondition: held.
  [[nodiscard]] std::uint64_t first_unsure_of_credits(std::uint64_t limit) const;

 private:
  TrainChannel* to_ = nullptr;
  Tick rate_ = 1;
  Tick q_ = 1;
  Tick start_ = 0;              // of flit offset_
  std::uint64_t offset_ = 0;    // boundary accounted for last
  std::uint64_t promised_ = 0;  // the receiver expects flits up to here
  PacketGrid grid_;
  MessageId message_;
  std::uint32_t vc_ = 0;
  std::uint16_t hop_ = 0;
  bool held_ = false;
};

}  // namespace espalier
