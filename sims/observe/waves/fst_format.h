// Fast signal trace, GTKWave's packed format, by the writer that comes with it.
#pragma once

#include <memory>
#include <string>

#include "sims/observe/waves/wave_format.h"

namespace espalier {

// False where the build found no sources of that writer.
[[nodiscard]] bool has_fst();

// Throws std::invalid_argument where has_fst() is false, std::runtime_error where the file cannot
// be written. The writer fills 128 MiB before it packs them, notices a full disk only when it
// closes the file, and keeps names in a file "<path>.hier" until then: a process that is killed
// leaves it.
[[nodiscard]] std::unique_ptr<WaveFormat> open_fst(const std::string& path);

}  // namespace espalier
