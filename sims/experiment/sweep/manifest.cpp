#include "sims/experiment/sweep/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sims/experiment/sweep/axis_values.h"
#include "sims/experiment/whole_file.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

std::set<std::string> ids_in(const Json& manifest) {
  std::set<std::string> ids;
  for (const Json& point : manifest.at("points")) ids.insert(point.at("id").get<std::string>());
  return ids;
}

std::size_t count_missing(const std::set<std::string>& ids, const std::set<std::string>& in) {
  return static_cast<std::size_t>(std::count_if(
      ids.begin(), ids.end(), [&](const std::string& id) { return in.count(id) == 0; }));
}

const Json* axis_in(const Json& manifest, const std::string& key) {
  for (const Json& axis : manifest.at("axes")) {
    if (axis.at("key") == key) return &axis;
  }
  return nullptr;
}

bool is_manifest(const Json& json) {
  const auto is_list = [&](const char* name) {
    return json.contains(name) && json.at(name).is_array();
  };
  if (!json.is_object() || !is_list("axes") || !is_list("points")) return false;
  const auto has = [](const Json& entry, const char* name) {
    return entry.is_object() && entry.contains(name);
  };
  return std::all_of(json["axes"].begin(), json["axes"].end(),
                     [&](const Json& axis) {
                       return has(axis, "key") && axis["key"].is_string() && has(axis, "values");
                     }) &&
         std::all_of(json["points"].begin(), json["points"].end(), [&](const Json& point) {
           return has(point, "id") && point["id"].is_string() && has(point, "set") &&
                  point["set"].is_object() && has(point, "config_hash") &&
                  point["config_hash"].is_string();
         });
}

}  // namespace

Json manifest_of(const Sweep& sweep, const SweepPlan& plan, const std::string& tool_version) {
  Json manifest;
  manifest["tool"]["name"] = "espalier";
  manifest["tool"]["version"] = tool_version;
  manifest["sweep"] = sweep.name;
  manifest["title"] = sweep.title;
  manifest["file"] = sweep.path;
  manifest["overrides"] = sweep.overrides;
  manifest["axes"] = Json::array();
  for (const SweepAxis& axis : sweep.axes) {
    for (const AxisKey& key : axis.keys) {
      Json values = Json::array();
      for (const ConfigNode& value : key.values) values.push_back(json_of(value));
      manifest["axes"].push_back({{"key", key.key->name}, {"values", values}});
    }
  }
  manifest["points"] = Json::array();
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const SweepPoint& point = plan.points[i];
    manifest["points"].push_back(
        {{"id", point.id}, {"index", i}, {"set", point.set}, {"config_hash", point.config_hash}});
  }
  return manifest;
}

std::optional<Json> read_manifest(const std::filesystem::path& folder) {
  const FileText file = read_file_bytes((folder / "manifest.json").string());
  if (!file.text) return std::nullopt;
  Json manifest = Json::parse(*file.text, nullptr, false);
  if (!is_manifest(manifest)) return std::nullopt;
  return manifest;
}

bool write_manifest(const std::filesystem::path& folder, const Json& manifest) {
  if (read_manifest(folder) == manifest) return true;
  return write_whole_file(folder / "manifest.json", manifest.dump(2) + "\n");
}

std::vector<std::string> plan_changes(const Json& before, const Json& now) {
  std::vector<std::string> changes;
  for (const Json& axis : now.at("axes")) {
    const Json* old = axis_in(before, axis.at("key"));
    const std::string key = axis.at("key");
    if (old == nullptr) {
      changes.push_back(fmt::format("axis {} is new", key));
    } else if (old->at("values") != axis.at("values")) {
      changes.push_back(fmt::format("axis {}: {}, before: {}", key, text_of(axis.at("values")),
                                    text_of(old->at("values"))));
    }
  }
  for (const Json& axis : before.at("axes")) {
    if (axis_in(now, axis.at("key")) == nullptr)
      changes.push_back(fmt::format("axis {} is gone", axis.at("key").get<std::string>()));
  }
  const auto ids_before = ids_in(before);
  const auto ids_now = ids_in(now);
  const std::size_t added = count_missing(ids_now, ids_before);
  const std::size_t gone = count_missing(ids_before, ids_now);
  if (added + gone != 0) {
    changes.push_back(fmt::format("{} points are new, {} are gone, {} stay", added, gone,
                                  ids_now.size() - added));
  }
  return changes;
}

}  // namespace espalier
