// Bit mixing for seeds and data tags: same input, same output, on every machine.
#pragma once

#include <cstdint>

namespace espalier {

// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection without visible
// structure.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return mix(mix(a) ^ b);
}

// Uniformly distributed in [0, 1), with 53 bits.
[[nodiscard]] constexpr double unit_interval(std::uint64_t random_bits) {
  return static_cast<double>(random_bits >> 11) * 0x1.0p-53;
}

}  // namespace espalier
