// From a sweep file to what varies in it.
#pragma once

#include <string>
#include <vector>

#include "sims/config/diagnostics.h"
#include "sims/sweep/sweep.h"

namespace espalier {

// Overrides are "dotted.key=value" as after -s. They win over everything in the file; a key that is
// an axis takes the override's value, or its list of values, along the axis. Records errors.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<std::string>& overrides,
                               Diagnostics& diagnostics);

}  // namespace espalier
