// A system's cost as a table for people, and as CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace espalier {

// `system`: a member of `systems` in what `espalier area --json` writes.
[[nodiscard]] std::string area_text(const nlohmann::ordered_json& system);
// A line per block.
[[nodiscard]] std::string area_csv(const std::vector<nlohmann::ordered_json>& systems);

}  // namespace espalier
