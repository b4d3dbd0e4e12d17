#include "sims/cli/results_file.h"

#include <algorithm>

#include "sims/cli/version.h"
#include "sims/config/resolved.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

Json merge(const std::vector<Json>& values) {
  if (values.front().is_object()) {
    Json merged = Json::object();
    for (const auto& [key, ignored] : values.front().items()) {
      std::vector<Json> members;
      for (const Json& value : values) {
        if (value.contains(key)) members.push_back(value.at(key));
      }
      merged[key] = merge(members);
    }
    return merged;
  }
  std::vector<Json> distinct;
  for (const Json& value : values) {
    if (std::find(distinct.begin(), distinct.end(), value) == distinct.end()) distinct.push_back(value);
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

Json results_document(const std::vector<Input>& inputs, const std::vector<Json>& results) {
  Json document;
  document["tool"]["name"] = "espalier";
  document["tool"]["version"] = kVersion;
  Json configs = Json::array();
  for (const Input& input : inputs) configs.push_back(merged_config(input.points));
  document["config"] = configs.size() == 1 ? configs.front() : configs;
  document["config_hash"] = hash_of(document["config"]);
  document["results"] = results;
  return document;
}

}  // namespace espalier
