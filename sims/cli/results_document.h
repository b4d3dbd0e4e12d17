// The JSON document of results that `run` and `compare` write (docs/results.md).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sims/cli/input.h"

namespace espalier {

// `command`: the words after which the same results are made again. `results`: one for each point,
// in the order of inputs and points. `folder`: of the document; paths in the document are relative
// to it. `more`: further members of the document.
[[nodiscard]] nlohmann::ordered_json results_document(
    const std::vector<std::string>& command, const std::vector<Input>& inputs,
    const std::vector<nlohmann::ordered_json>& results, const std::filesystem::path& folder,
    const nlohmann::ordered_json& more);

// For each point the settings in which the points differ; null where a setting does not apply.
[[nodiscard]] std::vector<nlohmann::ordered_json> settings_that_differ(
    const std::vector<RunPoint>& points, const std::filesystem::path& folder);

// The folder of an output; the current folder for stdout ("-").
[[nodiscard]] std::filesystem::path folder_of(const std::string& target);

// Writes the document to `json`, and to `csv` a table: the keys that vary between the points, then
// the fields of the results. Empty: no such output. Returns false if one cannot be written.
[[nodiscard]] bool write_results(const std::string& json, const std::string& csv,
                                 const std::vector<std::string>& command,
                                 const std::vector<Input>& inputs,
                                 const std::vector<nlohmann::ordered_json>& results,
                                 const nlohmann::ordered_json& more);
// Writes the document as an HTML page.
[[nodiscard]] bool write_page(const std::string& page, const std::string& title,
                              const std::vector<std::string>& command,
                              const std::vector<Input>& inputs,
                              const std::vector<nlohmann::ordered_json>& results,
                              const nlohmann::ordered_json& more);

}  // namespace espalier
