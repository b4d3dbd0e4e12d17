// Events in flight in train fidelity: begins and cuts of trains and of their credits.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "flowctl/flit_run.h"
#include "hw/clock/clock_domain.h"
#include "hw/ids.h"

namespace espalier {

class TrainChannel;

struct TrainEvent {
  enum class Kind : std::uint8_t { begin, cut, credit_begin, credit_cut };
  Kind kind = Kind::begin;
  std::uint8_t vc = 0;
  std::uint16_t hop = 0;  // begin: routers passed
  MessageId message;      // begin
  TrainChannel* channel = nullptr;
  std::uint64_t offset = 0;  // begin: offset of the first flit in its message
  // Begins: when the flits are usable at the receiver, or the credits seen by the sender. Cuts: n
  // is the number of flits or credits that are withdrawn.
  FlitRun flits;
};

// A timing wheel. Events of one cycle are delivered in the order in which they were posted, so on
// each VC of a channel a cut comes before the begin of the next train.
class TrainWheel : public ArrivalSource {
 public:
  // `at` must lie in the future and after every cycle delivered so far.
  void post(Cycle at, const TrainEvent& event);

  // The combs of the runs in flight.
  [[nodiscard]] CombPool& combs() { return combs_; }

  [[nodiscard]] Cycle next_arrival() const override;
  void deliver(Cycle now) override;

 private:
  static constexpr std::size_t kSlots = SlotRing::kSlots;
  static constexpr std::uint32_t kNone = 0xffffffffU;
  // Some events of a cycle, one behind the other: the wheel of a large system is larger than the
  // processor's caches, which fetch what is read in order ahead of time.
  struct Block {
    static constexpr std::uint32_t kEvents = 15;
    std::array<TrainEvent, kEvents> events;
    std::uint32_t count = 0;
    std::uint32_t next = kNone;
  };
  struct Slot {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  struct FarEvent {
    Cycle at;
    std::uint64_t order;
    TrainEvent event;
    friend bool operator>(const FarEvent& a, const FarEvent& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  void bring_near();
  void append_to_cycle(Cycle at, const TrainEvent& event);

  CombPool combs_;
  Cycle base_ = 0;  // the first cycle that has not been delivered
  std::uint64_t far_order_ = 0;
  std::vector<Block> blocks_;
  std::uint32_t free_ = kNone;  // list of unused blocks
  std::array<Slot, kSlots> slots_;
  SlotRing occupied_;
  std::priority_queue<FarEvent, std::vector<FarEvent>, std::greater<>> far_;
};

}  // namespace espalier
