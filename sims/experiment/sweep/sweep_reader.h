// Reads a sweep file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sims/config/json_schema.h"
#include "sims/experiment/sweep/sweep.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Overrides are "dotted.key=value" as after -s. They win over everything in the file. If a key is
// an axis, the override's value or list of values replaces the axis's values. Records errors.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<std::string>& overrides,
                               Diagnostics& diagnostics);

// A JSON Schema (draft-07) of sweep files, for editors (docs/python.md).
[[nodiscard]] nlohmann::ordered_json sweep_json_schema(const NameTexts& texts);

}  // namespace espalier
