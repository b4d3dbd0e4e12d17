// Widths of signals.
#pragma once

#include <cstdint>

namespace espalier {

// Bits of a signal that counts up to `most`.
[[nodiscard]] constexpr unsigned bits_to_count(std::uint64_t most) {
  unsigned bits = 1;
  while (bits < 64 && most >> bits != 0) ++bits;
  return bits;
}

// The number of bits that can represent `values` different values.
[[nodiscard]] constexpr std::uint32_t bits_for(std::uint64_t values) {
  return values < 2 ? 0 : bits_to_count(values - 1);
}

}  // namespace espalier
