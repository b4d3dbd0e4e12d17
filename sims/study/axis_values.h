// The positions of an axis: values of a key, given as a list or as a range, or named partial
// configurations, the networks, designs or series that a sweep compares.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sims/config/keys.h"
#include "sims/study/sweep.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"
#include "sims/text/strict_map.h"

namespace espalier {

// Reads `values`, or `from`, `to` and one of `step` and `factor`. The range is from, from + step,
// ... up to and including `to`. All returned values are valid for the key; the result is empty if
// errors were recorded. `name` is the axis's name for messages. If `may_repeat`, a repeated value
// is not an error.
[[nodiscard]] std::vector<ConfigNode> read_axis_values(const StrictMap& map,
                                                       const std::string& name, const Key& key,
                                                       bool may_repeat, Diagnostics& diagnostics);

// The same for given values: of a list or of an override.
[[nodiscard]] std::vector<ConfigNode> check_axis_values(std::vector<ConfigNode> values,
                                                        const Key& key, bool may_repeat,
                                                        Diagnostics& diagnostics);

// The value as written: numbers as numbers, lists as lists, mappings as objects, everything else as
// text.
[[nodiscard]] nlohmann::ordered_json json_of(const ConfigNode& value);
// E.g. "8", "150ns", "[8, 8]", "[{node: 5, cycles: 2000}]".
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& value);

inline constexpr std::size_t kMostValues = 100'000;

// Reads `name` and `cases` of an axis. A case takes one position, or one for each combination of
// the values that it lists; the last key of the registry varies fastest. `override_keys` sets what
// the command line sets. The result is empty if errors were recorded.
[[nodiscard]] std::vector<SweepCase> read_cases(
    const StrictMap& axis, const std::string& folder, Diagnostics& diagnostics,
    const std::function<void(ConfigNode&)>& override_keys);

// True if the node is several values of the key. For a key whose value is a list, that is a list of
// lists.
[[nodiscard]] bool lists_values(const Key& key, const ConfigNode& node);

}  // namespace espalier
