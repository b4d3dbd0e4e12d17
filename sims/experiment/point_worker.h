// One resolved point in a process of its own: what the parent hands over, and what the child does.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace espalier {

// The child's command line. `config`: as resolved_json gives it; paths in it start in `folder`.
[[nodiscard]] std::vector<std::string> worker_arguments(const nlohmann::ordered_json& config,
                                                        const std::string& folder);

// The child's side: simulates the point and writes its report to stdout. False where it failed.
[[nodiscard]] bool work_on_point(const std::string& config, const std::string& folder);

}  // namespace espalier
