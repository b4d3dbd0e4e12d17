#include "sims/observe/waves/wave_clock.h"

#include <fmt/format.h>

#include <stdexcept>

namespace espalier {

namespace {
constexpr std::uint64_t kGigahertz = 1'000'000'000;
constexpr std::uint64_t kFastest = 1'000'000'000'000;
}  // namespace

WaveClock::WaveClock(std::uint64_t hertz) : counts_cycles_(hertz == kGigahertz) {
  if (hertz == 0 || hertz > kFastest) {
    throw std::invalid_argument(
        fmt::format("a waveform's clock is between 1 Hz and 1 THz, not {} Hz", hertz));
  }
  clock_.hertz = hertz;
}

}  // namespace espalier
