#include "sims/study/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sims/experiment/result_fields.h"
#include "sims/study/axis_values.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_json.h"
#include "sims/text/whole_file.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// The labels of an axis of cases, and the keys whose values its cases list.
void add_cases(Json& axes, const SweepAxis& axis) {
  const std::size_t first = axes.size();
  for (const SweepCase& each : axis.cases) {
    for (const auto& [key, value] : each.set.items()) {
      const auto is_key = [&k = key](const Json& known) { return known.at("key") == k; };
      auto known = std::find_if(axes.begin(), axes.end(), is_key);
      if (known == axes.end()) {
        axes.push_back({{"key", key}, {"values", Json::array()}});
        known = axes.end() - 1;
      }
      Json& values = (*known)["values"];
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
  }
  if (!axis.kind.empty() && axes.size() > first) axes[first]["kind"] = axis.kind;
}

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

// Throws JsonError unless the manifest has every member that this program reads.
void check_manifest(const JsonCursor& manifest) {
  const auto expect_text = [](const JsonCursor& value) { static_cast<void>(value.text()); };
  for (const char* list : {"axes", "points"}) manifest.expect_key(list);
  if (manifest.has("file")) expect_text(manifest.key("file"));
  manifest.key("axes").for_each([&](const JsonCursor& axis) {
    for (const char* name : {"key", "values"}) axis.expect_key(name);
    expect_text(axis.key("key"));
  });
  manifest.key("points").for_each([&](const JsonCursor& point) {
    for (const char* name : {"id", "config_hash", "set"}) point.expect_key(name);
    expect_text(point.key("config_hash"));
    if (!is_file_name(point.key("id").text()))
      point.key("id").fail(point.key("id").value().dump() + " is not the id of a point");
    if (!point.key("set").is_object()) point.key("set").fail("expected an object");
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
    add_cases(manifest["axes"], axis);
    for (const AxisKey& key : axis.keys) {
      Json values = Json::array();
      for (const ConfigNode& value : key.values) values.push_back(json_of(value));
      manifest["axes"].push_back({{"key", key.key->name}, {"values", values}});
      if (!axis.kind.empty()) manifest["axes"].back()["kind"] = axis.kind;
    }
  }
  manifest["points"] = Json::array();
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const StudyPoint& point = plan.points[i];
    manifest["points"].push_back(
        {{"id", point.id}, {"index", i}, {"set", point.set}, {"config_hash", point.config_hash}});
    if (!point.alike.empty()) manifest["points"].back()["alike"] = point.alike;
  }
  return manifest;
}

ManifestFile read_manifest(const std::filesystem::path& folder) {
  const std::string path = (folder / "manifest.json").string();
  const FileText file = read_kept_file(path);
  if (!file.text) return {std::nullopt, fmt::format("{}: error: {}", path, file.problem)};
  try {
    Json manifest = parse_strict_json(*file.text);
    check_manifest(JsonCursor(manifest));
    return {std::move(manifest), {}};
  } catch (const JsonError& error) {
    const Place at = error.place(*file.text);
    return {std::nullopt,
            fmt::format("{}:{}:{}: error: {}", path, at.line, at.column, error.what())};
  }
}

bool write_manifest(const std::filesystem::path& folder, const Json& manifest) {
  if (read_manifest(folder).manifest == manifest) return true;
  return write_whole_file(folder / "manifest.json", manifest.dump(2) + "\n");
}

std::vector<std::string> plan_changes(const Json& before, const Json& now) {
  std::vector<std::string> changes;
  for (const Json& axis : now.at("axes")) {
    const Json* old = axis_in(before, axis.at("key"));
    const std::string key = axis.at("key");
    if (old == nullptr) {
      changes.push_back(fmt::format("axis {} is added", key));
    } else if (old->at("values") != axis.at("values")) {
      changes.push_back(fmt::format("axis {}: now {}, before {}", key, text_of(axis.at("values")),
                                    text_of(old->at("values"))));
    }
  }
  for (const Json& axis : before.at("axes")) {
    if (axis_in(now, axis.at("key")) == nullptr)
      changes.push_back(fmt::format("axis {} is removed", axis.at("key").get<std::string>()));
  }
  const auto ids_before = ids_in(before);
  const auto ids_now = ids_in(now);
  const std::size_t added = count_missing(ids_now, ids_before);
  const std::size_t gone = count_missing(ids_before, ids_now);
  if (added + gone != 0) {
    changes.push_back(fmt::format("{} points are added, {} are removed, {} stay", added, gone,
                                  ids_now.size() - added));
  }
  return changes;
}

namespace {

struct Row {
  const Json* point;  // from the manifest
  Json document;
};

std::string csv_of(const Json& manifest, const std::vector<Row>& rows) {
  std::vector<std::string> keys;
  for (const Json& axis : manifest.at("axes")) keys.push_back(axis.at("key"));
  std::vector<std::string> columns = setting_columns(keys);
  columns.insert(columns.begin(), "id");
  std::vector<Json> leading;
  std::vector<Json> results;
  for (const Row& row : rows) {
    const Json& set = row.point->at("set");
    Json& cells = leading.emplace_back(numbers_of(set));
    cells["id"] = row.point->at("id");
    for (const auto& [key, value] : set.items()) cells[key] = text_of(value);
    results.push_back(row.document.at("result"));
  }
  return results_csv(results, columns, leading);
}

}  // namespace

GatheredSweep gather_sweep(const Json& manifest, const PointStore& store) {
  GatheredSweep gathered;
  std::vector<Row> rows;
  for (const Json& point : manifest.at("points")) {
    ++gathered.points;
    const std::string id = point.at("id");
    const std::string name = fmt::format("{} {}", id, set_text(point.at("set")));
    StoredPoint finished = store.finished(id, point.at("config_hash"));
    const StoredPoint failed = finished.document ? StoredPoint{} : store.failed(id);
    if (finished.document) {
      ++gathered.versions[finished.document->value("version", "")];
      rows.push_back({&point, std::move(*finished.document)});
    } else if (failed.document) {
      gathered.failed.push_back(
          fmt::format("{}: {}", name, failed.document->at("failure").get<std::string>()));
    } else {
      const std::string& problem = finished.problem.empty() ? failed.problem : finished.problem;
      gathered.missing.push_back(problem.empty() ? name : fmt::format("{}: {}", name, problem));
    }
  }
  gathered.csv = csv_of(manifest, rows);
  for (const Row& row : rows) {
    Json line;
    line["id"] = row.point->at("id");
    line["set"] = row.point->at("set");
    line["set_numbers"] = numbers_of(row.point->at("set"));
    for (const char* member : {"config_hash", "config", "result"})
      line[member] = row.document.value(member, Json());
    gathered.jsonl += line.dump() + "\n";
  }
  return gathered;
}

}  // namespace espalier
