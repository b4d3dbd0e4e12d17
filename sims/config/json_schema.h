// JSON Schemas (draft-07, which editors read) of values and of configurations, made from the table
// of keys.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sims/text/values.h"

namespace espalier {

// One line about each name that a key takes: by key and name.
using NameTexts = std::map<std::string, std::map<std::string, std::string>>;

inline constexpr const char* kJsonSchemaDraft = "http://json-schema.org/draft-07/schema#";

// One value of this shape. The range of a value with a unit is in no keyword: see describe().
[[nodiscard]] nlohmann::ordered_json json_schema_of(const ValueShape& shape);
// "150ns": the unit is a part of the text.
[[nodiscard]] nlohmann::ordered_json json_schema_of(Quantity quantity);

// One value of the key `name`, which must exist, with the meaning of the key.
[[nodiscard]] nlohmann::ordered_json json_schema_of_key(const std::string& name,
                                                        const NameTexts& texts);

// The sections of a configuration. `is_whole`: a file that can be run, so that required keys and
// one workload must be there; otherwise a part of a configuration.
[[nodiscard]] nlohmann::ordered_json config_json_schema(const NameTexts& texts, bool is_whole);

// The keys as a list of objects: name, values, default, meaning, when the key applies.
[[nodiscard]] nlohmann::ordered_json keys_json();

}  // namespace espalier
