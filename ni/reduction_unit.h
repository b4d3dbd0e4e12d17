// The reduction unit computes when a received chunk has been added to the chunk in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "ni/modes.h"

namespace espalier {

struct ReductionSpec {
  ReductionMode mode = ReductionMode::streaming;
  Cycle latency = 1;                  // pipeline, >= 1
  std::uint64_t bytes_per_cycle = 0;  // of the unit, or of each lane; 0: as fast as a port delivers
  Bytes block_bytes = 1;              // work is done in whole blocks
};

// streaming: one lane per ejection port, packet by packet. A packet of b bytes (whole flits)
// occupies its lane for b / bytes_per_cycle cycles from its first flit on, and at least until its
// last flit has arrived. after_message: one unit for the NI. A message enters when it is complete,
// in order of completion (ascending port if several complete in one cycle).
class ReductionUnit {
 public:
  ReductionUnit(const ReductionSpec& spec, std::size_t ports) : spec_(spec), lane_free_(ports, 0) {}

  // Cycles that `bytes` occupy a lane or the unit.
  [[nodiscard]] Cycle occupancy(Bytes bytes) const;
  // `count` packets of `bytes` each, all to be reduced, become visible at port `port`, each `flits`
  // cycles long: the last flit of the first packet in cycle `first`, that of the last packet in
  // cycle `last`, the others between them as PacketSink::packets_end() says. Returns the cycle in
  // which the lane has reduced them.
  Cycle packets_visible(std::size_t port, std::uint64_t count, Bytes bytes, std::uint32_t flits,
                        Cycle first, Cycle last);
  // A message whose last packet has become visible may be reduced from cycle `now` on; its lane has
  // reduced its packets at `lane_done`. Returns the cycle in which the message is reduced.
  [[nodiscard]] Cycle message_visible(Bytes bytes, Cycle now, Cycle lane_done);
  // The NI adds two operands of its own memory, for which no port delivers data. The work queues
  // behind other work of the unit. Returns the cycle in which the operands are added.
  [[nodiscard]] Cycle operands_ready(Bytes bytes, Cycle now);
  // True if nothing is being reduced (paper: the all-reduce units are idle).
  [[nodiscard]] bool idle(Cycle now) const { return busy_until_ <= now; }
  [[nodiscard]] Cycle busy_until() const { return busy_until_; }
  [[nodiscard]] Bytes added_bytes() const { return added_bytes_; }

 private:
  ReductionSpec spec_;
  std::vector<Cycle> lane_free_;  // streaming
  Cycle unit_free_ = 0;           // after_message
  Cycle busy_until_ = 0;
  Bytes added_bytes_ = 0;
};

}  // namespace espalier
