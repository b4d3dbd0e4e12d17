#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sims/observe/waves/wave_writer.h"

namespace espalier {

// The format is the ending's: .vcd, or .fst (about a tenth in size). `clock_hertz`: see
// wave_clock.h. The file is made, or emptied, here.
// Throws std::invalid_argument for another ending, for .fst in a build without it, and for clocks
// that wave_clock.h refuses; std::runtime_error where the file cannot be written.
[[nodiscard]] std::unique_ptr<WaveWriter> make_wave_writer(const std::string& path,
                                                           std::uint64_t clock_hertz);

}  // namespace espalier
