// From a sweep file to what varies in it.
#pragma once

#include <string>
#include <vector>

#include "sims/experiment/sweep/sweep.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Overrides are "dotted.key=value" as after -s. They win over everything in the file; a key that is
// an axis takes the override's value, or its list of values, along the axis. Records errors.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<std::string>& overrides,
                               Diagnostics& diagnostics);

}  // namespace espalier
