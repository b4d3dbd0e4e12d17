// FOLDER/manifest.json: the contents of a sweep, for programs that do not read the sweep file.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/experiment/sweep/sweep.h"
#include "sims/experiment/sweep/sweep_plan.h"

namespace espalier {

// {"tool", "sweep", "title", "file", "overrides", "axes": [{"key", "values"}],
//  "points": [{"id", "index", "set", "config_hash"}]}
[[nodiscard]] nlohmann::ordered_json manifest_of(const Sweep& sweep, const SweepPlan& plan,
                                                 const std::string& tool_version);

struct ManifestFile {
  std::optional<nlohmann::ordered_json> manifest;
  std::string problem;  // without a manifest: the place in the file, and the error
};
[[nodiscard]] ManifestFile read_manifest(const std::filesystem::path& folder);

// Writes the manifest only if it has changed. Returns false if it cannot be written.
[[nodiscard]] bool write_manifest(const std::filesystem::path& folder,
                                  const nlohmann::ordered_json& manifest);

// Differences for the user, line by line; empty if both plans have the same axes and points.
[[nodiscard]] std::vector<std::string> plan_changes(const nlohmann::ordered_json& before,
                                                    const nlohmann::ordered_json& now);

}  // namespace espalier
