// Memories of flip-flops or SRAM, whichever is smaller. SRAM is chosen where it is smaller even at
// the upper end of its range, which begins at some two hundred bits.
#pragma once

#include "hw/cost/block_cost.h"
#include "hw/cost/technology.h"

namespace espalier {

// SRAM macros, fitted to CACTI 7 (ram, itrs-hp, area objective, 340 K, no ECC).
enum class SramPorts : std::uint8_t {
  one_read_write,
  one_read_one_write  // a FIFO's
};

struct SramShape {
  double words = 0;
  double bits = 0;
  SramPorts ports = SramPorts::one_read_write;
};

struct SramCost {
  AreaRange area;
  double access_ps = 0;
  double read_pj = 0;
  double write_pj = 0;
};

// Area: within 7 % of CACTI over 16 shapes of 32x32 to 2048x128; words are spread over macros side
// by side until each has at least half as many words as bits, which is where the fit holds;
// and none is smaller than 32x32. The range ends at 2.5 times the fit, because CACTI is optimistic
// against macros that exist (IHP SG13G2's: 1.4 times per bit, plus a fixed part; OpenRAM on
// FreePDK45: 2 to 3 times). Access: within 5 % of CACTI at 45 nm, linear in the feature size down
// to 22 nm (within 13 %). Energy of one access: within 15 %.
[[nodiscard]] SramCost sram_macro(const SramShape& shape, const Technology& technology);

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
