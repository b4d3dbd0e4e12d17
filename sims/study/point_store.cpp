#include "sims/study/point_store.h"

#include <fmt/format.h>

#include <system_error>

#include "sims/config/config_layers.h"
#include "sims/config/resolved.h"
#include "sims/experiment/result_register.h"
#include "sims/text/read_file.h"
#include "sims/text/whole_file.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFailedEnding = ".failed.json";

// `judge` returns what is wrong with a document; empty if the document is valid for the point.
template <class Judge>
StoredPoint read_point(const std::filesystem::path& path, const std::string& id,
                       const Judge& judge) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return {};
  const auto useless = [&](const std::string& problem) {
    return StoredPoint{std::nullopt, fmt::format("{} {}", path.string(), problem)};
  };
  const FileText file = read_kept_file(path.string());
  if (!file.text) return useless(file.problem);
  Json document = Json::parse(*file.text, nullptr, false);
  if (!document.is_object()) return useless("is not complete");
  if (document.value("id", Json()) != id) return useless("belongs to another point");
  const std::string problem = judge(document);
  if (!problem.empty()) return useless(problem);
  return {std::move(document), {}};
}

}  // namespace

bool PointStore::open() const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!std::filesystem::is_directory(folder_, error)) return false;
  remove_unfinished_files(folder_);
  return can_write_in(folder_);
}

StoredPoint PointStore::finished(const std::string& id, const std::string& config_hash) const {
  return read_point(folder_ / (id + ".json"), id, [&](const Json& document) {
    if (!document.value("result", Json()).is_object()) return std::string("has no result");
    if (!document.value("version", Json()).is_string()) return std::string("names no version");
    if (!document.value("host", Json::object()).is_object())
      return std::string("expected an object as 'host'");
    if (document.value("config_hash", Json()) != config_hash)
      return std::string("belongs to another configuration");
    if (document.value("result_hash", Json()) != hash_of(document["result"]))
      return std::string("was changed after it was written, or is of a version before 0.6");
    if (!document.value("note", Json("")).is_string())
      return std::string("expected a text as 'note'");
    const auto misfit = first_misfit(document["result"]);
    return misfit ? fmt::format("has a wrong '{}': {}", misfit->field, misfit->problem)
                  : std::string();
  });
}

StoredPoint PointStore::failed(const std::string& id) const {
  return read_point(folder_ / (id + kFailedEnding), id, [](const Json& document) {
    return std::string(document.value("failure", Json()).is_string() ? ""
                                                                     : "does not say what failed");
  });
}

bool PointStore::keep(const StudyPoint& point, const WorkerReport& report,
                      const PointOrigin& origin) const {
  const auto finished_file = folder_ / (point.id + ".json");
  const auto failed_file = folder_ / (point.id + kFailedEnding);
  const bool good = report.kind == FailureKind::none;
  Json document;
  document["id"] = point.id;
  document["set"] = point.set;
  if (good) {
    document["config_hash"] = point.config_hash;
    document["command"] = origin.command;
    document["version"] = origin.version;
    document["config"] =
        with_moved_paths(Json::parse(point.config), point.folder, folder_.parent_path());
    document["result"] = report.result;
    document["result"].erase("host");
    document["result_hash"] = hash_of(document["result"]);
    if (report.result.contains("host")) document["host"] = report.result["host"];
    if (!report.note.empty()) document["note"] = report.note;
  } else {
    document["failure"] = report.failure;
    document["kind"] = kFailureKindNames[static_cast<std::size_t>(report.kind)];
  }
  if (!write_whole_file(good ? finished_file : failed_file, document.dump(2) + "\n")) return false;
  std::error_code ignored;
  std::filesystem::remove(good ? failed_file : finished_file, ignored);
  return true;
}

}  // namespace espalier
