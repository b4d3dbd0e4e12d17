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
// to it.
[[nodiscard]] nlohmann::ordered_json results_document(
    const std::vector<std::string>& command, const std::vector<Input>& inputs,
    const std::vector<nlohmann::ordered_json>& results, const std::filesystem::path& folder);

// The folder of an output; the current folder for stdout ("-").
[[nodiscard]] std::filesystem::path folder_of(const std::string& target);

// The table of `--csv`: the keys that vary between the points, then the fields of the results.
// Paths are relative to `folder`.
[[nodiscard]] std::string results_table_csv(const std::vector<Input>& inputs,
                                            const std::vector<nlohmann::ordered_json>& results,
                                            const std::filesystem::path& folder);

}  // namespace espalier
