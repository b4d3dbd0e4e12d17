// Fast signal trace, GTKWave's packed format, by the writer that comes with it.
#pragma once

#include <memory>
#include <string>

#include "sims/observe/waves/wave_format.h"

namespace espalier {

// False if the build found no sources of that writer.
[[nodiscard]] bool has_fst();

// Throws std::invalid_argument if has_fst() is false, std::runtime_error if the file cannot be
// written. A full disk may be noticed only in close(): the writer collects 128 MiB before it packs
// them. Until then it keeps names in a file "<path>.hier", which a killed process leaves behind.
[[nodiscard]] std::unique_ptr<WaveFormat> open_fst(const std::string& path);

}  // namespace espalier
