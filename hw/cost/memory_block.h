// Memories of flip-flops or SRAM, whichever is smaller. SRAM is chosen only if even the upper end
// of its area range is smaller than the flip-flops, which holds from about two hundred bits on.
#pragma once

#include <optional>

#include "hw/cost/block_cost.h"
#include "hw/cost/technology.h"

namespace espalier {

// SRAM macros, fitted to CACTI 7 (ram, itrs-hp, area objective, 340 K, no ECC).
enum class SramPorts : std::uint8_t {
  one_read_write,
  one_read_one_write  // for FIFOs
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
  std::optional<double> leakage_mw;  // empty: no data for this node
};

// Area: within 7 % of CACTI over 16 shapes of 32x32 to 2048x128. A wide memory is split into macros
// side by side until each has at least half as many words as bits, because the fit holds only
// there. No macro is smaller than 32x32. The upper end of the range is 2.5 times the fit, because
// CACTI is optimistic compared with existing macros (IHP SG13G2: 1.4 times per bit, plus a fixed
// part; OpenRAM on FreePDK45: 2 to 3 times). Access time: within 5 % of CACTI at 45 nm, linear in
// the feature size down to 22 nm (within 13 %). Energy of one access: within 15 %. Leakage: within
// 10
// %.
[[nodiscard]] SramCost sram_macro(const SramShape& shape, const Technology& technology);

struct MemoryShape {
  double words = 0;
  double bits = 0;
  SramPorts ports = SramPorts::one_read_write;
  // Flip-flops beside the words, clocked in every cycle, that only a flip-flop memory needs.
  double registers = 0;
};

// `storage` may fix the choice between flip-flops and SRAM.
[[nodiscard]] BlockCost memory_block(CostBlock block, const MemoryShape& shape, Storage storage,
                                     const Technology& technology);

// Energy in pJ of one write, or of one read, of a flip-flop memory. DSENT: one write and one read
// of a 128-bit flit take 8.93 pJ together at 45 nm. The energy is proportional to the bits and does
// not depend on the number of words, because idle words are not clocked.
[[nodiscard]] double flip_flop_access_pj(double bits, const Technology& technology);

}  // namespace espalier
