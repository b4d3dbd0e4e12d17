// A memory that answers late now and then: how much longer each read of a DMA engine takes.
#pragma once

#include <cstdint>

#include "hw/hash.h"
#include "hw/ids.h"

namespace espalier {

// Delays of 0 to `most` cycles, each as likely. The delay of a read depends on seed, node and its
// ordinal at that node alone, not on when or beside what it happens.
class DmaJitter {
 public:
  DmaJitter() = default;  // none
  DmaJitter(Cycle most, std::uint64_t seed, NodeId node)
      : most_(most), stream_(mix(seed, node.index())) {}

  // Of the next read.
  Cycle next() { return most_ == 0 ? 0 : mix(stream_, ++reads_) % (most_ + 1); }

 private:
  Cycle most_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace espalier
