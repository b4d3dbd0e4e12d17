#include "sims/experiment/sweep/gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/experiment/result_fields.h"
#include "sims/experiment/sweep/axis_values.h"
#include "sims/experiment/sweep/sweep_plan.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

struct Row {
  const Json* point;  // from the manifest
  Json document;
};

std::string csv_of(const Json& manifest, const std::vector<Row>& rows) {
  std::vector<std::string> keys;
  for (const Json& axis : manifest.at("axes")) keys.push_back(axis.at("key"));
  std::vector<const Json*> results;
  for (const Row& row : rows) results.push_back(&row.document.at("result"));
  std::vector<std::string> fields = table_fields(results);
  // Column names must be unique, so result fields with the name of an axis are left out.
  fields.erase(std::remove_if(fields.begin(), fields.end(),
                              [&](const std::string& field) {
                                return std::find(keys.begin(), keys.end(), field) != keys.end();
                              }),
               fields.end());
  std::string text = "id";
  for (const auto* names : {&keys, &fields}) {
    for (const std::string& name : *names) text += "," + csv_cell(name);
  }
  text += '\n';
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Json& set = rows[r].point->at("set");
    text += rows[r].point->at("id").get<std::string>();
    for (const std::string& key : keys)
      text += "," + (set.contains(key) ? csv_cell(text_of(set.at(key))) : std::string());
    for (const std::string& field : fields) text += "," + csv_cell(find_field(*results[r], field));
    text += '\n';
  }
  return text;
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
    for (const char* member : {"config_hash", "config", "result"})
      line[member] = row.document.value(member, Json());
    gathered.jsonl += line.dump() + "\n";
  }
  return gathered;
}

}  // namespace espalier
