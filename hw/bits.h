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

}  // namespace espalier
