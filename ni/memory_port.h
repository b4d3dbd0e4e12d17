// The port to an NI's memory that its program contexts share.
#pragma once

#include <algorithm>

#include "hw/ids.h"

namespace espalier {

class MemoryPort {
 public:
  // 0: never the bottleneck.
  explicit MemoryPort(Bytes bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}

  // Reads and writes, in the order in which they are asked for. Returns when they are done.
  Cycle move(Bytes bytes, Cycle now) {
    if (bytes_per_cycle_ == 0 || bytes == 0) return now;
    free_ = std::max(free_, now) + (bytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
    return free_;
  }

 private:
  Bytes bytes_per_cycle_;
  Cycle free_ = 0;
};

}  // namespace espalier
