// Files of sims/experiment that are part of the program, as CMake has read them.
#pragma once

#include <string_view>

namespace espalier {

// JSON Schemas without the parts that follow from results.txt and from the table of keys.
[[nodiscard]] std::string_view results_schema_file();  // results.schema.json
[[nodiscard]] std::string_view sweep_schema_file();    // sims/study

}  // namespace espalier
