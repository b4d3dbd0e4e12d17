#include "sims/experiment/sweep/gather.h"

#include <fmt/format.h>

#include "sims/experiment/axis_numbers.h"
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
