// An account for people, from what `run --json` has of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace espalier {

// `result`: of a run, with its "explanation".
[[nodiscard]] std::string explanation_text(const nlohmann::ordered_json& result);

}  // namespace espalier
