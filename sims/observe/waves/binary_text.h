// Numbers as the digits 0 and 1 that waveform files are made of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier {

// The lowest `bits` bits, highest first, without a terminating zero. 1 to 64.
void write_binary(char* to, std::uint64_t value, unsigned bits);

// How many bits are left without leading zeros; one for 0.
[[nodiscard]] unsigned significant_bits(std::uint64_t value);

}  // namespace espalier
