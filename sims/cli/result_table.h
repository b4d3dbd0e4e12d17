// The table of results that `run` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace espalier {

// One row for each result. Columns with one value in all rows are left out, except for the most
// important ones. The last columns compare the time with the bound, and the speed with the first
// row of the same size.
[[nodiscard]] std::string result_table(const std::vector<nlohmann::ordered_json>& results);

}  // namespace espalier
