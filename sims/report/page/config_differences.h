// What several configurations have in common, and in what they differ.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace espalier::report {

// Of a configuration by sections to one by dotted names, and back.
[[nodiscard]] nlohmann::ordered_json flatten_config(const nlohmann::ordered_json& config);
[[nodiscard]] nlohmann::ordered_json nest_config(const nlohmann::ordered_json& flat);

struct ConfigDifferences {
  std::vector<std::string> keys;  // that differ, or that only some have; in order of appearance
  nlohmann::ordered_json common = nlohmann::ordered_json::object();  // by dotted name
};

// All by dotted names. Nothing but nullptrs: no keys, nothing in common; a nullptr among others
// stands for a configuration that is not known, and counts for nothing.
[[nodiscard]] ConfigDifferences compare_configs(
    const std::vector<const nlohmann::ordered_json*>& flat_configs);

// The shortest ends of dotted names that tell them apart, in their order: "size", "router.clock".
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& keys);

// A value as in a file; "–" for null.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& value);
// Of a key that a configuration may not have.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& flat_config,
                                     const std::string& key);

// Of `keys`, in their order, those without which fewer configurations would be told apart.
[[nodiscard]] std::vector<std::string> telling_keys(
    const std::vector<std::string>& keys,
    const std::vector<const nlohmann::ordered_json*>& flat_configs);

}  // namespace espalier::report
