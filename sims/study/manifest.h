// FOLDER/manifest.json: the contents of a sweep, for programs that do not read the sweep file; and
// the table of its results, collected in the same way for every kind of run.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/study/point_store.h"
#include "sims/study/sweep.h"
#include "sims/study/sweep_plan.h"

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

struct GatheredSweep {
  // id; for each axis its values, and behind them their numbers if they have a unit; then the
  // fields of the results
  std::string csv;
  // {"id", "set", "set_numbers", "config_hash", "config", "result"}, one object per line
  std::string jsonl;
  std::size_t points = 0;
  std::vector<std::string> missing;  // "ID key=value ...", and what is wrong with the point's file
  std::vector<std::string> failed;   // "ID key=value ...", and the reason of the failure
  // Number of points that each version of the program made; "" for points that do not tell.
  std::map<std::string, std::size_t> versions;
};

// Rows are in the order of the manifest. The result does not depend on when, where and how often
// points ran.
[[nodiscard]] GatheredSweep gather_sweep(const nlohmann::ordered_json& manifest,
                                         const PointStore& store);

}  // namespace espalier
