// Results side by side, for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace espalier {

// One row per result; columns that say the same in every row are left out (but for those a reader
// always looks for). The last columns compare: time against the bound, and speed against the first
// row of the same size.
[[nodiscard]] std::string result_table(const std::vector<nlohmann::ordered_json>& results);

}  // namespace espalier
