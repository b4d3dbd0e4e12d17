// A stream of random numbers that is the same everywhere: a counter through hw/hash.h's mix.
#pragma once

#include <cstdint>

#include "hw/hash.h"

namespace espalier {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : seed_(mix(seed)) {}

  [[nodiscard]] std::uint64_t next() { return mix(seed_ ^ mix(counter_++)); }

  // Below `bound`: the high half of a product; its bias is below bound / 2^32.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

}  // namespace espalier
