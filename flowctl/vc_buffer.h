// The buffer of one virtual channel, together with the credits for it.
#pragma once

#include <cstdint>
#include <memory>

#include "flowctl/flit.h"
#include "hw/topology/link_timing.h"

namespace espalier {

// Sender and receiver share a ring of slots, and each slot holds a time. A slot with a flit holds
// the time from which the receiver may use the flit; until then the flit is in flight on the link.
// An empty slot holds the time from which the sender sees the slot's credit; until then the credit
// is in flight. A slot is taken from the moment its flit is sent until its credit is seen, as with
// a credit counter. So the test for room for n flits reads one slot, and flits and credits in
// flight need no queue. Sender and receiver may be evaluated in either order within a cycle,
// because times written now lie in the future.
class VcBuffer {
 public:
  explicit VcBuffer(std::uint32_t depth_flits)
      : slots_(std::make_unique<Slot[]>(depth_flits)), depth_(depth_flits) {}

  // Sender's side -----------------------------------------------------------------------------
  // Whether the sender sees `flits` credits by tick `now_end` (the last tick of the current cycle).
  [[nodiscard]] bool has_room(std::uint32_t flits, Tick now_end) const {
    return room_at(flits) <= now_end;
  }
  // The tick at which the sender sees the credit for the `flits`-th flit from now; kNever if this
  // credit is not in flight yet.
  [[nodiscard]] Tick room_at(std::uint32_t flits) const {
    if (flits > depth_) return kNever;
    std::uint32_t last = tail_ + flits - 1;
    if (last >= depth_) last -= depth_;
    return slots_[last].full() ? kNever : slots_[last].when;
  }
  // Credits seen by tick `now_end`, counted slot by slot; for the monitor.
  [[nodiscard]] std::uint32_t credits_seen(Tick now_end) const {
    std::uint32_t credits = 0;
    while (credits < depth_ && has_room(credits + 1, now_end)) ++credits;
    return credits;
  }
  // Precondition: has_room(1, now). Returns true if the buffer had no flit before, neither stored
  // nor in flight.
  bool push(const Flit& flit, Tick usable) {
    slots_[tail_].fill(flit, usable);
    tail_ = next(tail_);
    fetch_ahead(tail_);
    ++sent_;
    return inside_++ == 0;
  }
  void prefetch_tail() const { __builtin_prefetch(slots_.get() + tail_, 1); }

  // Receiver's side ---------------------------------------------------------------------------
  [[nodiscard]] bool empty() const { return inside_ == 0; }
  // Precondition: !empty(). The flit may be used from this tick on.
  [[nodiscard]] Tick front_usable() const { return slots_[head_].when; }
  [[nodiscard]] Flit front() const { return slots_[head_].flit(); }
  // The first flit leaves. The sender sees its credit at tick `credit_seen`.
  void pop(Tick credit_seen) {
    slots_[head_].release(credit_seen);
    head_ = next(head_);
    fetch_ahead(head_);
    --inside_;
  }
  void prefetch_head() const { __builtin_prefetch(slots_.get() + head_, 1); }

  // Whether a credit has been sent that the sender does not yet see at tick `now_end`.
  [[nodiscard]] bool credit_under_way(Tick now_end) const {
    const Slot& last_left = slots_[head_ == 0 ? depth_ - 1 : head_ - 1];
    return !last_left.full() && last_left.when > now_end;
  }

  // Flits ever sent into this buffer.
  [[nodiscard]] std::uint64_t flits_sent() const { return sent_; }
  [[nodiscard]] std::uint32_t depth() const { return depth_; }

 private:
  class Slot {
   public:
    Tick when = 0;
    [[nodiscard]] bool full() const { return (hop_type_full_ & 1U) != 0; }
    void fill(const Flit& flit, Tick usable) {
      when = usable;
      message_ = flit.message;
      left_in_packet_ = flit.left_in_packet;
      hop_type_full_ = static_cast<std::uint16_t>(unsigned{flit.hop} << 4U |
                                                  static_cast<unsigned>(flit.type) << 1U | 1U);
    }
    void release(Tick credit_seen) {
      when = credit_seen;
      hop_type_full_ = 0;
    }
    [[nodiscard]] Flit flit() const {
      return {message_, left_in_packet_, static_cast<std::uint16_t>(hop_type_full_ >> 4U),
              static_cast<FlitType>(hop_type_full_ >> 1U & 0b111U)};
    }

   private:
    MessageId message_;
    std::uint16_t left_in_packet_ = 0;
    std::uint16_t hop_type_full_ = 0;  // 12 + 3 + 1 bits: a slot is 16 bytes, four to a cache line
  };
  static_assert(sizeof(Slot) == 16);

  // A system's slots exceed the caches, and hundreds of buffers in turn defeat the processor's
  // prefetcher. So each new cache line of slots prefetches the line after the next one.
  void fetch_ahead(std::uint32_t slot) const {
    constexpr std::size_t kSlotsPerLine = 64 / sizeof(Slot);
    if (slot % kSlotsPerLine == 0) __builtin_prefetch(slots_.get() + slot + 2 * kSlotsPerLine, 1);
  }
  [[nodiscard]] std::uint32_t next(std::uint32_t slot) const {
    return slot + 1 == depth_ ? 0 : slot + 1;
  }

  std::unique_ptr<Slot[]> slots_;
  std::uint32_t depth_;
  std::uint32_t tail_ = 0;    // sender's next slot
  std::uint32_t head_ = 0;    // receiver's next slot
  std::uint32_t inside_ = 0;  // flits in flight or in the buffer
  std::uint64_t sent_ = 0;
};

// The most routers that a flit can pass: its hop field has 12 bits.
inline constexpr std::uint32_t kMostHops = 4095;

}  // namespace espalier
