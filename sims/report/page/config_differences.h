// What configurations have in common, how they differ, and which of them can be compared.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/report/page/report_data.h"

namespace espalier::report {

// Converts a configuration by sections to one by dotted names, and back.
[[nodiscard]] nlohmann::ordered_json flatten_config(const nlohmann::ordered_json& config);
[[nodiscard]] nlohmann::ordered_json nest_config(const nlohmann::ordered_json& flat);

struct ConfigDifferences {
  std::vector<std::string> keys;  // keys that differ or that some lack, in order of appearance
  nlohmann::ordered_json common = nlohmann::ordered_json::object();  // by dotted name
};

// Configurations by dotted names. A nullptr stands for an unknown configuration and is ignored.
[[nodiscard]] ConfigDifferences compare_configs(
    const std::vector<const nlohmann::ordered_json*>& flat_configs);

// For each dotted name its shortest end that is unique: "size", "router.clock".
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& keys);

// The value as a file would have it; "–" for null.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& value);
// The value of a key that a configuration may lack.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& flat_config,
                                     const std::string& key);

// The keys without which fewer configurations would be told apart, in the order of `keys`.
[[nodiscard]] std::vector<std::string> telling_keys(
    const std::vector<std::string>& keys,
    const std::vector<const nlohmann::ordered_json*>& flat_configs);

// Whether a key belongs to the workload (operation and size, messages and their seed, trained
// network, iterations, control messages, stalls) and not to the design (algorithm, VCs). Only runs
// of one workload can be compared.
[[nodiscard]] bool is_workload_key(const std::string& key);

// A text for each point that is equal if times can be compared: operation, size, nodes, network or
// traffic, and the keys that tell workloads of the same words apart.
[[nodiscard]] std::vector<std::string> workloads_of(const std::vector<ReportPoint>& points);

}  // namespace espalier::report
