// The adders with which a reduction unit adds a chunk that arrives to the chunk in memory.
#pragma once

#include <cstdint>

#include "hw/cost/block_cost.h"
#include "hw/cost/technology.h"

namespace espalier {

struct Adders {
  std::uint32_t count = 0;
  std::uint32_t element_bytes = 4;  // 1: integers; 2, 4, 8: FP16, FP32, FP64

  [[nodiscard]] friend bool operator==(const Adders& a, const Adders& b) {
    return a.count == b.count && a.element_bytes == b.element_bytes;
  }
};

// The adders that add `bytes` of `element_bytes` each in a cycle. Elements of another size than 1,
// 2, 4 or 8 bytes are vectors of the largest of these numbers that divides the size.
[[nodiscard]] Adders adders_for(std::uint64_t bytes, std::uint32_t element_bytes);

// Area and energy of FP32, FP16 and INT8 are published for 45 nm: energy by Horowitz ("Computing's
// energy problem", ISSCC 2014), area by Dally (tutorial "High-performance hardware for machine
// learning", NIPS 2015: the adders of that table, synthesized). FP64 is scaled from FP32 with the
// gates of hw/rtl/fp_adder.v. The delay is that of the same source without pipeline registers.
[[nodiscard]] BlockCost price_adders(CostBlock block, const Adders& adders, const CostSpec& spec,
                                     const Technology& technology);

}  // namespace espalier
