// FST (fast signal trace), GTKWave's packed format, written with GTKWave's own writer.
#pragma once

#include <memory>
#include <string>

#include "sims/observe/waves/wave_format.h"

namespace espalier {

// False if the sources of this writer were not found at build time.
[[nodiscard]] bool has_fst();

// Throws std::invalid_argument if has_fst() is false, std::runtime_error if the file cannot be
// written. A full disk may be noticed only in close(): the writer collects 128 MiB before it packs
// them. Until then it keeps names in a file "<path>.hier", which a killed process leaves behind.
[[nodiscard]] std::unique_ptr<WaveFormat> open_fst(const std::string& path);

}  // namespace espalier
