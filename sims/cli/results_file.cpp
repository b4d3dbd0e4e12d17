#include "sims/cli/results_file.h"

#include <algorithm>
#include <filesystem>

#include "sims/cli/version.h"
#include "sims/config/resolved.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

Json merge(const std::vector<Json>& values) {
  if (values.front().is_object()) {
    Json merged = Json::object();
    // A key that means something at some of the points only is left out at the others.
    for (const Json& owner : values) {
      for (const auto& [key, ignored] : owner.items()) {
        if (merged.contains(key)) continue;
        std::vector<Json> members;
        for (const Json& value : values) {
          if (value.contains(key)) members.push_back(value.at(key));
        }
        merged[key] = merge(members);
      }
    }
    return merged;
  }
  std::vector<Json> distinct;
  for (const Json& value : values) {
    if (std::find(distinct.begin(), distinct.end(), value) == distinct.end())
      distinct.push_back(value);
  }
  return distinct.size() == 1 ? distinct.front() : Json(distinct);
}

}  // namespace

Json merged_config(const std::vector<RunPoint>& points) {
  std::vector<Json> configs;
  configs.reserve(points.size());
  for (const RunPoint& point : points) configs.push_back(resolved_json(point));
  return merge(configs);
}

Json results_document(const std::vector<Input>& inputs, const std::vector<Json>& results,
                      const std::filesystem::path& folder) {
  Json document;
  document["tool"]["name"] = "espalier";
  document["tool"]["version"] = kVersion;
  const auto configs = [&inputs](auto place) {
    Json all = Json::array();
    for (const Input& input : inputs) all.push_back(merged_config(place(input.points)));
    return all.size() == 1 ? all.front() : all;
  };
  document["config"] = configs([&](const auto& points) { return seen_from(points, folder); });
  // Where the results are written to does not change what was run.
  document["config_hash"] = hash_of(configs([](const auto& points) { return points; }));
  document["results"] = results;
  return document;
}

}  // namespace espalier
