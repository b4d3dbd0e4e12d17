// The times at which one flow of another tenant posts its messages.
#pragma once

#include <cstdint>

#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "sims/point/traffic_config.h"

namespace espalier {

// Sends and pauses in turn, for geometrically distributed times. While it sends, it posts messages
// at its rate; a pause interrupts the interval between two messages, which continues afterwards.
// The times depend only on the seed and the flow's number.
class TenantFlow {
 public:
  TenantFlow(const TenantsConfig& config, const ClockSpec& clock, std::uint32_t number);

  // When the next message is posted; never decreases.
  [[nodiscard]] Cycle next() const { return next_; }
  void advance();

 private:
  [[nodiscard]] std::uint64_t draw() { return drawn_stream(count_++); }
  [[nodiscard]] std::uint64_t drawn_stream(std::uint64_t index) const;
  // Returns at least 1. Precondition: a mean of at least one cycle.
  [[nodiscard]] Cycle draw_time(Cycle mean);
  void find_next();

  std::uint64_t stream_;
  std::uint64_t count_ = 0;
  Cycle mean_on_;
  Cycle mean_off_;
  // Messages are bytes_ * hertz_ / bytes_per_second_ cycles of sending time apart.
  std::uint64_t bytes_;
  std::uint64_t hertz_;
  std::uint64_t bytes_per_second_;
  std::uint64_t message_ = 0;  // number of the next message
  Cycle phase_ = 0;            // of the first message
  Cycle begin_ = 0;            // start of the current sending phase
  Cycle length_ = 0;
  Cycle sent_before_ = 0;  // sending time before the current phase
  Cycle next_ = 0;
};

// The two different racks that flow `number` joins.
struct RackPair {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
// Precondition: at least 2 racks.
[[nodiscard]] RackPair racks_of_flow(const TenantsConfig& config, std::uint32_t racks,
                                     std::uint32_t number);

}  // namespace espalier
