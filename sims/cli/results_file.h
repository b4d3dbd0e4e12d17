// The document that `run --json` writes (DESIGN section 9, docs/results.md).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/cli/input.h"

namespace espalier {

// "command" is what to call for these results again, wherever they go. "config" is what was run,
// resolved: where the points of a file differ, a key holds the list of its values. With several
// files it is an array of such objects. "points" has, for each result, `set`: what differs between
// the points of its file, null where a key means nothing there; and where there are several,
// `config`: which of the configurations. `folder` is where the document will stand: paths in it
// start there.
[[nodiscard]] nlohmann::ordered_json results_document(
    const std::vector<std::string>& command, const std::vector<Input>& inputs,
    const std::vector<nlohmann::ordered_json>& results, const std::filesystem::path& folder);

// The configurations of several points in one, as described above.
[[nodiscard]] nlohmann::ordered_json merged_config(const std::vector<RunPoint>& points);

}  // namespace espalier
