#include "sims/sweep/point_store.h"

#include <fstream>
#include <system_error>

#include "sims/run/whole_file.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFailedEnding = ".failed.json";

}  // namespace

bool PointStore::open() const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!std::filesystem::is_directory(folder_, error)) return false;
  remove_unfinished_files(folder_);
  return true;
}

std::optional<Json> PointStore::read(const std::string& name, const std::string& id,
                                     const char* member) const {
  std::ifstream file(folder_ / name);
  if (!file) return std::nullopt;
  Json document = Json::parse(file, nullptr, false);
  if (!document.is_object() || document.value("id", Json()) != id || !document.contains(member))
    return std::nullopt;
  return document;
}

std::optional<Json> PointStore::finished(const std::string& id) const {
  return read(id + ".json", id, "result");
}

std::optional<Json> PointStore::failed(const std::string& id) const {
  return read(id + kFailedEnding, id, "failure");
}

bool PointStore::keep(const SweepPoint& point, const WorkerReport& report,
                      const std::string& command) const {
  const auto finished_file = folder_ / (point.id + ".json");
  const auto failed_file = folder_ / (point.id + kFailedEnding);
  const bool good = report.kind == FailureKind::none;
  Json document;
  document["id"] = point.id;
  document["set"] = point.set;
  if (good) {
    document["config_hash"] = point.config_hash;
    document["command"] = command;
    document["config"] = point.config;
    document["result"] = report.result;
    document["result"].erase("host");
    if (report.result.contains("host")) document["host"] = report.result["host"];
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
