#include "hw/cost/memory_block.h"

#include <algorithm>
#include <cmath>

#include "hw/cost/logic.h"

namespace espalier {

namespace {

constexpr double kAgainstRealMacros = 2.5;
constexpr double kFittedAtNm = 45;
constexpr double kFinestFittedNm = 22;
// smallest fitted number of words, and of bits; no macro is smaller
constexpr double kSmallest = 32;

// Ratio of two-port to one-port area in CACTI: 2.28 at 128x256, 2.05 at 1280x128. Interpolated
// along the logarithm of words / bits.
double second_port_area(double words, double bits) {
  constexpr double kFlat = -1;            // log2 of words / bits at 128x256
  constexpr double kTall = 3.3219280949;  // log2 of words / bits at 1280x128
  const double shape = std::clamp(std::log2(words / bits), kFlat, kTall);
  return 2.28 + (2.05 - 2.28) * (shape - kFlat) / (kTall - kFlat);
}

constexpr double kSecondPortEnergy = 1.28;    // CACTI: 1.27 to 1.29
constexpr double kSecondPortAccess = 1.15;    // CACTI: 1.11 to 1.18
constexpr double kLeakageMwPerBit = 1.18e-4;  // CACTI at 45 nm: 1.11e-4 to 1.23e-4
constexpr double kSecondPortLeakage = 1.23;   // CACTI: 1.23 to 1.24

}  // namespace

SramCost sram_macro(const SramShape& shape, const Technology& technology) {
  const double words = std::max(shape.words, kSmallest);
  // The fit ends at twice as many bits as words. A wider word is spread over several macros of that
  // shape. Their number may be a fraction, so that a wider word never has less area.
  const double banks = std::max(1.0, shape.bits / (2 * words));
  const double bits = std::max(shape.bits / banks, kSmallest);
  const double f = technology.feature_um();
  const bool two_ports = shape.ports == SramPorts::one_read_one_write;

  SramCost cost;
  double area = f * f * (164.1 * words * bits + 62.07 * bits * bits + 2366 * words);
  if (two_ports) area *= second_port_area(words, bits);
  cost.area = {banks * area, banks * area * kAgainstRealMacros};

  const double node = std::max(technology.node_nm(), kFinestFittedNm);
  cost.access_ps = (150.5 + 0.478 * std::sqrt(words * bits)) * node / kFittedAtNm;
  if (two_ports) cost.access_ps *= kSecondPortAccess;

  const double energy = technology.sram_energy_factor() * (two_ports ? kSecondPortEnergy : 1);
  const double read = 0.00923 * bits + 4.8e-5 * bits * bits + 6.98e-5 * words * bits;
  const double write = read + 0.026 * bits;
  cost.read_pj = banks * energy * read;
  cost.write_pj = banks * energy * write;
  if (const auto factor = technology.sram_leakage_factor()) {
    cost.leakage_mw =
        *factor * kLeakageMwPerBit * banks * words * bits * (two_ports ? kSecondPortLeakage : 1);
  }
  return cost;
}

double flip_flop_access_pj(double bits, const Technology& technology) {
  constexpr double kPerBit = 8.93 / 2 / 128;
  return technology.logic_energy_factor() * kPerBit * bits;
}

BlockCost memory_block(CostBlock block, const MemoryShape& shape, Storage storage,
                       const Technology& technology) {
  BlockCost cost;
  cost.block = block;
  cost.words = shape.words;
  cost.bits = shape.bits;
  const Gates gates =
      logic::flip_flop_memory(shape.words, shape.bits) + logic::flip_flops(shape.registers);
  const double flip_flops = technology.um2(gates);
  const SramCost sram = sram_macro({shape.words, shape.bits, shape.ports}, technology);
  const bool flip_flops_win =
      storage == Storage::automatic ? flip_flops <= sram.area.high : storage == Storage::flip_flop;
  if (flip_flops_win) {
    cost.implementation = Implementation::flip_flop;
    cost.each = {flip_flops, flip_flops};
    const Depth depth = logic::flip_flop_memory_read(shape.words);
    cost.delay_ps = technology.ps(depth);
    cost.delay_fo4 = depth.fo4;
    cost.read_pj = cost.write_pj = flip_flop_access_pj(shape.bits, technology);
    cost.clocked_bits = shape.registers;
    cost.leakage_mw = leakage_of(gates, technology);
    return cost;
  }
  cost.implementation = Implementation::sram;
  cost.each = sram.area;
  cost.delay_ps = sram.access_ps;
  cost.delay_fo4 = sram.access_ps / technology.fo4_ps();
  cost.read_pj = sram.read_pj;
  cost.write_pj = sram.write_pj;
  cost.leakage_mw = sram.leakage_mw;
  return cost;
}

}  // namespace espalier
