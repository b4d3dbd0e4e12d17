// A memory of flip-flops or SRAM, whichever is smaller: SRAM where it is even at the upper end of
// its range, from some two hundred bits on.
#pragma once

#include "hw/cost/block_cost.h"
#include "hw/cost/sram.h"
#include "hw/cost/technology.h"

namespace espalier {

struct MemoryShape {
  double words = 0;
  double bits = 0;
  SramPorts ports = SramPorts::one_read_write;
  Gates beside_flip_flops = {};  // what flip-flops need beside the array
};

// `storage` fixes the choice.
[[nodiscard]] BlockCost memory_block(CostBlock block, const MemoryShape& shape, Storage storage,
                                     const Technology& technology);

// pJ of one write, or one read, of a flip-flop memory: DSENT's flit of 128 bits takes 8.93 pJ for
// both at 45 nm; in proportion to the bits, whatever the depth (words at rest are not clocked).
[[nodiscard]] double flip_flop_access_pj(double bits, const Technology& technology);

}  // namespace espalier
