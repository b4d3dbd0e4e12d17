// Reads a sweep file.
#pragma once

#include <string>
#include <vector>

#include "sims/experiment/sweep/sweep.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Overrides are "dotted.key=value" as after -s. They win over everything in the file. If a key is
// an axis, the override's value or list of values replaces the axis's values. Records errors.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<std::string>& overrides,
                               Diagnostics& diagnostics);

}  // namespace espalier
