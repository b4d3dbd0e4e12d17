// One run point written out in full: the simulated configuration, from which the run can be
// repeated.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sims/text/values.h"

namespace espalier {

struct RunPoint;

// A value as a configuration writes it: numbers and lists as such, quantities with their units.
[[nodiscard]] nlohmann::ordered_json json_value(const Value& value, const ValueShape& shape);

// Every key that has a meaning at this point, in the order of the key table. Quantities are written
// as in a file ("150ns"). Written as a file, it reads back to an identical point.
[[nodiscard]] nlohmann::ordered_json resolved_json(const RunPoint& point);

// 64-bit FNV-1a of the compact JSON, as 16 hexadecimal digits. Of a graph file, only the path is
// hashed.
[[nodiscard]] std::string config_hash(const RunPoint& point);
[[nodiscard]] std::string hash_of(const nlohmann::ordered_json& config);

}  // namespace espalier
