#include "hw/cost/memory_block.h"

#include "hw/cost/logic.h"

namespace espalier {

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
  const double flip_flops =
      technology.um2(logic::flip_flop_memory(shape.words, shape.bits) + shape.beside_flip_flops);
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
    return cost;
  }
  cost.implementation = Implementation::sram;
  cost.each = sram.area;
  cost.delay_ps = sram.access_ps;
  cost.delay_fo4 = sram.access_ps / technology.fo4_ps();
  cost.read_pj = sram.read_pj;
  cost.write_pj = sram.write_pj;
  return cost;
}

}  // namespace espalier
