#include "ni/reduction_unit.h"

#include <algorithm>

namespace espalier {

Cycle ReductionUnit::occupancy(Bytes bytes) const {
  if (spec_.bytes_per_cycle == 0) return 0;
  const Bytes blocks = (bytes + spec_.block_bytes - 1) / spec_.block_bytes;
  return (blocks * spec_.block_bytes + spec_.bytes_per_cycle - 1) / spec_.bytes_per_cycle;
}

Cycle ReductionUnit::packets_visible(std::size_t port, std::uint64_t count, Bytes bytes,
                                     std::uint32_t flits, Cycle first, Cycle last) {
  if (spec_.mode != ReductionMode::streaming || spec_.bytes_per_cycle == 0) return last;
  // A lane takes packets one after the other: free = max(max(free, first flit) + work, last flit).
  // For packets at equal distances, first and last flits are linear in the packet number but for
  // the rounding, and `work` is a whole number of cycles. So the largest term belongs to the first
  // or to the last packet. Where distances repeat, that holds for each place in the period, so the
  // largest term belongs to a packet of the first or of the last period, told of alone.
  const Cycle work = occupancy(bytes);
  const Cycle first_packet_first = first + 1 - flits;
  const Cycle last_packet_first = last + 1 - flits;
  Cycle& free = lane_free_[port];
  free = std::max({free + count * work, first_packet_first + count * work, last_packet_first + work,
                   first + (count - 1) * work, last});
  return free;
}

Cycle ReductionUnit::message_visible(Bytes bytes, Cycle now, Cycle lane_done) {
  Cycle done = 0;
  if (spec_.mode == ReductionMode::streaming) {
    done = std::max(now, lane_done) + spec_.latency;
    added_bytes_ += bytes;
  } else {
    done = operands_ready(bytes, now);
  }
  busy_until_ = std::max(busy_until_, done);
  return done;
}

Cycle ReductionUnit::operands_ready(Bytes bytes, Cycle now) {
  // The pipeline latency passes before the unit is occupied, so an idle unit takes latency +
  // occupancy.
  added_bytes_ += bytes;
  unit_free_ = std::max(unit_free_, now + spec_.latency) + occupancy(bytes);
  busy_until_ = std::max(busy_until_, unit_free_);
  return unit_free_;
}

}  // namespace espalier
