#include "flowctl/train/train_wheel.h"

#include "flowctl/train/train_channel.h"

namespace espalier {

void TrainWheel::append(Slot& slot, std::uint32_t node) {
  if (slot.last == kNone) {
    slot.first = node;
  } else {
    nodes_[slot.last].next = node;
  }
  slot.last = node;
}

void TrainWheel::append_to_cycle(Cycle at, std::uint32_t node) {
  const std::size_t slot = at % kSlots;
  append(slots_[slot], node);
  occupied_.set(slot);
}

void TrainWheel::post(Cycle at, const TrainEvent& event) {
  sc_assert(at >= base_);
  std::uint32_t node = free_;
  if (node == kNone) {
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[node].next;
  }
  nodes_[node].event = event;
  nodes_[node].next = kNone;
  if (at - base_ < kSlots) {
    append_to_cycle(at, node);
  } else {
    far_.push({at, far_order_++, node});
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
    append_to_cycle(far_.top().at, far_.top().node);
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
  // Arrivals only cause evaluations, which post events later. So `nodes_` does not change in this
  // loop.
  for (std::uint32_t n = slot.first; n != kNone;) {
    const Node& node = nodes_[n];
    node.event.channel->arrive(node.event, now);
    n = node.next;
  }
  if (slot.first != kNone) {
    nodes_[slot.last].next = free_;
    free_ = slot.first;
  }
}

}  // namespace espalier
