#include "ni/reduction_unit.h"

#include <algorithm>

namespace espalier {

Cycle ReductionUnit::occupancy(Bytes bytes) const {
  if (spec_.bytes_per_cycle == 0) return 0;
  const Bytes blocks = (bytes + spec_.block_bytes - 1) / spec_.block_bytes;
  return (blocks * spec_.block_bytes + spec_.bytes_per_cycle - 1) / spec_.bytes_per_cycle;
}

void ReductionUnit::packet_visible(std::size_t port, Bytes bytes, Cycle first, Cycle last) {
  if (spec_.mode != ReductionMode::streaming || spec_.bytes_per_cycle == 0) return;
  const Cycle start = std::max(lane_free_[port], first);
  lane_free_[port] = std::max(start + occupancy(bytes), last);
}

Cycle ReductionUnit::message_visible(std::size_t port, Bytes bytes, Cycle now) {
  Cycle done = 0;
  if (spec_.mode == ReductionMode::streaming) {
    done = std::max(now, lane_free_[port]) + spec_.latency;
  } else {
    // The pipeline latency is spent before a free unit, so an idle unit gives now + latency +
    // occupancy.
    unit_free_ = std::max(unit_free_, now + spec_.latency) + occupancy(bytes);
    done = unit_free_;
  }
  busy_until_ = std::max(busy_until_, done);
  return done;
}

}  // namespace espalier
