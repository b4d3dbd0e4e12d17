// What became of other tenants' traffic.
#pragma once

#include <cstdint>

#include "hw/ids.h"

namespace espalier {

// While the job ran: what its flows posted, and what of it has arrived.
struct TenantStatistics {
  std::uint64_t posted_messages = 0;
  Bytes posted_bytes = 0;
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  double mean_cycles = 0;  // posted to visible, of those that have arrived
  Cycle duration = 0;      // cycles in which they were posted
};

}  // namespace espalier
