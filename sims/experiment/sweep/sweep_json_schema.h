// A JSON Schema (draft-07) of sweep files. User documentation: docs/python.md.
#pragma once

#include <nlohmann/json.hpp>

#include "sims/config/json_schema.h"

namespace espalier {

[[nodiscard]] nlohmann::ordered_json sweep_json_schema(const NameTexts& texts);

}  // namespace espalier
