// Presets of GPU systems that others have measured (docs/silicon.md).
#pragma once

#include <vector>

#include "sims/config/presets.h"

namespace espalier {

// In the order in which users see them.
[[nodiscard]] std::vector<Preset> gpu_presets();

}  // namespace espalier
