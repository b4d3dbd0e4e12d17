// Where the time of a run went, for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace espalier {

enum class ExplanationDetail { brief, all };

// The account as text. `result`: a run's JSON with its "explanation". An account of parts that were
// asked for is brief without the parts that were not.
[[nodiscard]] std::string explanation_text(const nlohmann::ordered_json& result,
                                           ExplanationDetail detail);

}  // namespace espalier
