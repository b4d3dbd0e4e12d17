// A JSON Schema (draft-07) of results, made from the register of results: of the document that `run
// --json` writes, and in its definitions `result` (one result) and `row` (a line of results.jsonl).
#pragma once

#include <nlohmann/json.hpp>

namespace espalier {

[[nodiscard]] nlohmann::ordered_json results_json_schema();

}  // namespace espalier
