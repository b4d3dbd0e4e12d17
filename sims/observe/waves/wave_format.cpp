#include "sims/observe/waves/wave_format.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace espalier {

namespace {

using Digits = std::array<char, 8>;

// Converts eight digits at a time, because conversion bit by bit would take most of the time of a
// change.
constexpr std::array<Digits, 256> make_digits() {
  std::array<Digits, 256> all{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned d = 0; d < 8; ++d) {
      all[byte][d] = ((byte >> (7 - d)) & 1U) != 0 ? '1' : '0';
    }
  }
  return all;
}

constexpr std::array<Digits, 256> kDigits = make_digits();

constexpr std::uint64_t kGigahertz = 1'000'000'000;
constexpr std::uint64_t kFastest = 1'000'000'000'000;

}  // namespace

WaveClock::WaveClock(std::uint64_t hertz) : counts_cycles_(hertz == kGigahertz) {
  if (hertz == 0 || hertz > kFastest) {
    throw std::invalid_argument(
        fmt::format("a waveform's clock must be between 1 Hz and 1 THz; found {} Hz", hertz));
  }
  clock_.hertz = hertz;
}

void write_binary(char* to, std::uint64_t value, unsigned bits) {
  const unsigned odd = bits % 8;
  if (odd != 0) {
    std::memcpy(to, kDigits[(value >> (bits - odd)) & 0xff].data() + (8 - odd), odd);
    to += odd;
  }
  for (unsigned left = bits - odd; left != 0; left -= 8) {
    std::memcpy(to, kDigits[(value >> (left - 8)) & 0xff].data(), 8);
    to += 8;
  }
}

unsigned significant_bits(std::uint64_t value) {
  return 64U - static_cast<unsigned>(__builtin_clzll(value | 1U));
}

}  // namespace espalier
