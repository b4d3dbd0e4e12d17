#include "sims/cli/results_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/config/resolved.h"
#include "sims/experiment/result_fields.h"
#include "sims/page/config_differences.h"
#include "sims/page/page.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

Json merge(const std::vector<Json>& values) {
  if (values.front().is_object()) {
    Json merged = Json::object();
    // A point leaves out keys that do not apply to it.
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

// What tells the points of a document apart; paths are relative to `folder`.
Json points_json(const std::vector<Input>& inputs, const std::filesystem::path& folder) {
  Json points = Json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (Json& set : settings_that_differ(inputs[i].points, folder)) {
      Json& point = points.emplace_back();
      if (inputs.size() > 1) point["config"] = i;
      if (inputs[i].tables) point["schedule"] = inputs[i].path;
      point["set"] = std::move(set);
    }
  }
  return points;
}

// Paths are relative to `folder`.
std::string results_table_csv(const std::vector<Input>& inputs, const std::vector<Json>& results,
                              const std::filesystem::path& folder) {
  std::vector<RunPoint> points;
  for (const Input& input : inputs)
    points.insert(points.end(), input.points.begin(), input.points.end());
  std::vector<Json> leading = settings_that_differ(points, folder);
  std::vector<std::string> keys;
  if (!leading.empty())
    for (const auto& item : leading.front().items()) keys.push_back(item.key());
  for (Json& set : leading) set.update(numbers_of(set));
  return results_csv(results, setting_columns(keys), leading);
}

}  // namespace

std::vector<Json> settings_that_differ(const std::vector<RunPoint>& points,
                                       const std::filesystem::path& folder) {
  std::vector<Json> configs;
  Json all = Json::object();  // every key of every point
  for (const RunPoint& point : points) {
    configs.push_back(report::flatten_config(resolved_for(point, folder)));
    all.update(configs.back());
  }
  std::vector<Json> sets(points.size(), Json::object());
  for (const auto& item : all.items()) {
    const bool varies = std::any_of(configs.begin(), configs.end(), [&](const Json& config) {
      return !config.contains(item.key()) || config.at(item.key()) != item.value();
    });
    for (std::size_t i = 0; varies && i < sets.size(); ++i)
      sets[i][item.key()] = configs[i].value(item.key(), Json(nullptr));
  }
  return sets;
}

std::filesystem::path folder_of(const std::string& target) {
  const auto parent = std::filesystem::path(target == "-" ? "" : target).parent_path();
  return parent.empty() ? std::filesystem::current_path() : parent;
}

Json results_document(const std::vector<std::string>& command, const std::vector<Input>& inputs,
                      const std::vector<Json>& results, const std::filesystem::path& folder,
                      const Json& more) {
  Json document;
  document["tool"]["name"] = "espalier";
  document["tool"]["version"] = kVersion;
  document["command"] = command;
  // A key with different values holds the list of its values.
  const auto configs = [&inputs](const auto& config_of) {
    Json all = Json::array();
    for (const Input& input : inputs) {
      std::vector<Json> of_input;
      for (const RunPoint& point : input.points) of_input.push_back(config_of(point));
      all.push_back(merge(of_input));
    }
    return all.size() == 1 ? all.front() : all;
  };
  document["config"] = configs([&](const RunPoint& point) { return resolved_for(point, folder); });
  // The hash does not depend on the document's folder.
  document["config_hash"] = hash_of(configs(resolved_json));
  document["points"] = points_json(inputs, folder);
  document["results"] = results;
  document.update(more);
  return document;
}

bool write_results(const std::string& json, const std::string& csv,
                   const std::vector<std::string>& command, const std::vector<Input>& inputs,
                   const std::vector<Json>& results, const Json& more) {
  bool written = true;
  if (!json.empty()) {
    const Json document = results_document(command, inputs, results, folder_of(json), more);
    written &= write_text(json, document.dump(2) + "\n");
  }
  if (!csv.empty()) {
    written &= write_text(csv, results_table_csv(inputs, results, folder_of(csv)));
  }
  return written;
}

bool write_page(const std::string& page, const std::string& title,
                const std::vector<std::string>& command, const std::vector<Input>& inputs,
                const std::vector<Json>& results, const Json& more) {
  const Json document = results_document(command, inputs, results, folder_of(page), more);
  const report::ReportData data = report::report_of(document, kVersion, folder_of(page).string());
  return write_text(page, report::report_html(report::ReportView(data), title, kVersion));
}

}  // namespace espalier
