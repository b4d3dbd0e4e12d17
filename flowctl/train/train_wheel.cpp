#include "flowctl/train/train_wheel.h"

#include "flowctl/train/train_channel.h"

namespace espalier {

void TrainWheel::append_to_cycle(Cycle at, const TrainEvent& event) {
  const std::size_t number = at % kSlots;
  Slot& slot = slots_[number];
  if (slot.last == kNone || blocks_[slot.last].count == Block::kEvents) {
    std::uint32_t block = free_;
    if (block == kNone) {
      block = static_cast<std::uint32_t>(blocks_.size());
      blocks_.emplace_back();
    } else {
      free_ = blocks_[block].next;
      blocks_[block].next = kNone;
    }
    (slot.last == kNone ? slot.first : blocks_[slot.last].next) = block;
    slot.last = block;
    occupied_.set(number);
  }
  Block& last = blocks_[slot.last];
  last.events[last.count++] = event;
}

void TrainWheel::post(Cycle at, const TrainEvent& event) {
  sc_assert(at >= base_);
  if (at - base_ < kSlots) {
    append_to_cycle(at, event);
  } else {
    far_.push({at, far_order_++, event});
  }
}

Cycle TrainWheel::next_arrival() const {
  const Cycle far = far_.empty() ? kNever : far_.top().at;
  const std::size_t distance = occupied_.next(base_, 0);
  return distance == kSlots ? far : std::min(far, base_ + distance);
}

// Distant events must come before later posts for the same cycle. That holds, because they move to
// the wheel as soon as it reaches their cycle.
void TrainWheel::bring_near() {
  while (!far_.empty() && far_.top().at - base_ < kSlots) {
    append_to_cycle(far_.top().at, far_.top().event);
    far_.pop();
  }
}

void TrainWheel::deliver(Cycle now) {
  base_ = now;
  bring_near();
  const std::size_t number = now % kSlots;
  const Slot slot = slots_[number];
  slots_[number] = {};
  occupied_.clear(number);
  // From now on, this slot belongs to the cycle that comes within the wheel's range with the next
  // cycle.
  base_ = now + 1;
  bring_near();
  // Arrivals only cause evaluations, which post events later. So `blocks_` does not change in this
  // loop.
  for (std::uint32_t b = slot.first; b != kNone; b = blocks_[b].next) {
    Block& block = blocks_[b];
    for (std::uint32_t e = 0; e < block.count; ++e) {
      block.events[e].channel->arrive(block.events[e], now);
    }
    block.count = 0;
  }
  if (slot.first != kNone) {
    blocks_[slot.last].next = free_;
    free_ = slot.first;
  }
}

}  // namespace espalier
