// The values of one key along an axis: listed, or a range.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "sims/config/keys.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"
#include "sims/text/strict_map.h"

namespace espalier {

// From `values`, or from `from`, `to` and one of `step` and `factor`: from, from + step, ... up to
// and including `to`. All are valid for the key; empty where errors were recorded. `name` of the
// axis, for messages. `may_repeat`: the same value again is no error.
[[nodiscard]] std::vector<ConfigNode> read_axis_values(const StrictMap& map,
                                                       const std::string& name, const Key& key,
                                                       bool may_repeat, Diagnostics& diagnostics);

// Values that are at hand: of a list, of an override.
[[nodiscard]] std::vector<ConfigNode> check_axis_values(std::vector<ConfigNode> values,
                                                        const Key& key, bool may_repeat,
                                                        Diagnostics& diagnostics);

// As it is written: numbers as numbers, lists as lists, mappings as objects, all else as text.
[[nodiscard]] nlohmann::ordered_json json_of(const ConfigNode& value);
// "8", "150ns", "[8, 8]", "[{node: 5, cycles: 2000}]".
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& value);

inline constexpr std::size_t kMostValues = 100'000;

}  // namespace espalier
