// One run point written out in full: what was simulated, and how to run exactly that again.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sims/point/config.h"

namespace espalier {

// Every key that means something at this point, in the order of the registry; quantities as in a
// file ("150ns").
[[nodiscard]] nlohmann::ordered_json resolved_json(const RunPoint& point);

// The same as a configuration file; read_run_config reads it back to an identical point.
[[nodiscard]] std::string resolved_yaml(const RunPoint& point);

// 64-bit FNV-1a of the compact JSON, as 16 hex digits. A graph file counts by its path.
[[nodiscard]] std::string config_hash(const RunPoint& point);
[[nodiscard]] std::string hash_of(const nlohmann::ordered_json& config);

}  // namespace espalier
