#include "sims/silicon/point_cache.h"

#include <system_error>

#include "sims/config/resolved.h"
#include "sims/experiment/point_content.h"
#include "sims/experiment/whole_file.h"
#include "sims/text/file_hashes.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

}  // namespace

PointCache::PointCache(fs::path folder, const std::string& program)
    : folder_(std::move(folder)),
      program_hash_(hash_of(Json(hash_text(read_file_bytes(program).text.value_or(""))))) {}

bool PointCache::open() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_, error)) return false;
  remove_unfinished_files(folder_);
  return can_write_in(folder_);
}

std::string PointCache::key_of(const RunPoint& point) const {
  Json all;
  all["program"] = program_hash_;
  all.update(point_content(point));
  return hash_of(all);
}

fs::path PointCache::file_of(const std::string& key) const { return folder_ / (key + ".json"); }

std::optional<Json> PointCache::find(const std::string& key) const {
  const FileText file = read_file_bytes(file_of(key).string());
  if (!file.text) return std::nullopt;
  const Json document = Json::parse(*file.text, nullptr, false);
  if (!document.is_object() || document.value("key", Json()) != key) return std::nullopt;
  const auto result = document.find("result");
  if (result == document.end() || document.value("result_hash", Json()) != hash_of(*result))
    return std::nullopt;
  return *result;
}

bool PointCache::keep(const std::string& key, const RunPoint& point, const Json& result) const {
  Json document;
  document["key"] = key;
  document["config"] = resolved_json(point);
  document["result"] = result;
  document["result_hash"] = hash_of(result);
  return write_whole_file(file_of(key), document.dump(2) + "\n");
}

}  // namespace espalier
