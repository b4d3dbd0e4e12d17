// Finds common and different settings of configurations, and which configurations can be compared.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/page/report_data.h"

namespace espalier::report {

// Converts a configuration by sections to one by dotted names, and back.
[[nodiscard]] nlohmann::ordered_json flatten_config(const nlohmann::ordered_json& config);
[[nodiscard]] nlohmann::ordered_json nest_config(const nlohmann::ordered_json& flat);

struct ConfigDifferences {
  std::vector<std::string> keys;  // keys that differ or are missing in some, in order of appearance
  nlohmann::ordered_json common = nlohmann::ordered_json::object();  // by dotted name
};

// Configurations by dotted names. A nullptr stands for an unknown configuration and is ignored.
[[nodiscard]] ConfigDifferences compare_configs(
    const std::vector<const nlohmann::ordered_json*>& flat_configs);

// The shortest unique end of each dotted name: "size", "router.clock".
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& keys);

// The value as written in a file; "–" for null.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& value);
// The value of a key, which may be missing in the configuration.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& flat_config,
                                     const std::string& key);

// The keys that tell the configurations apart, chosen in the order of `keys`: a key is left out if
// it separates no configurations that the chosen keys before it do not separate.
[[nodiscard]] std::vector<std::string> telling_keys(
    const std::vector<std::string>& keys,
    const std::vector<const nlohmann::ordered_json*>& flat_configs);

// Whether a key belongs to the workload (operation and size, messages and their seed, trained
// network, iterations, control messages, stalls) and not to the design (algorithm, VCs). Only runs
// of the same workload can be compared.
[[nodiscard]] bool is_workload_key(const std::string& key);

// A text for each point. Times of points with equal texts can be compared. The text has operation,
// size, nodes, network or traffic, and the keys that distinguish workloads with the same words.
[[nodiscard]] std::vector<std::string> workloads_of(
    const std::vector<ReportPoint>& points,
    const std::function<bool(const std::string& key)>& is_workload);

}  // namespace espalier::report
