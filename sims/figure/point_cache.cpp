#include "sims/figure/point_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/config/yaml_loader.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Of the bytes, which need not be UTF-8.
std::uint64_t hash_bytes(const std::string& bytes) {
  constexpr std::uint64_t kOffsetBasis = 14695981039346656037ULL;
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  std::uint64_t hash = kOffsetBasis;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

std::uint64_t hash_file(const fs::path& path) {
  return hash_bytes(read_file_text(path.string()).text.value_or(""));
}

}  // namespace

PointCache::PointCache(fs::path folder, const std::string& program)
    : folder_(std::move(folder)), program_hash_(hash_of(Json(hash_file(program)))) {}

bool PointCache::open() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  return fs::is_directory(folder_, error);
}

std::string PointCache::key_of(const RunPoint& point) const {
  Json all;
  all["program"] = program_hash_;
  all["config"] = resolved_json(point);
  // Keys of type text are paths.
  const fs::path folder = point.system.topology.folder;
  for (const Key& key : keys()) {
    const bool is_used = key.resolved && has_section_of(point, key) && key.applies_at(point);
    if (!is_used || key.shape.type != ValueType::text) continue;
    all["files"][key.name] = hash_file(folder / key.get(point).text);
  }
  return hash_of(all);
}

fs::path PointCache::file_of(const std::string& key) const { return folder_ / (key + ".json"); }

std::optional<Json> PointCache::find(const std::string& key) const {
  std::ifstream file(file_of(key));
  if (!file) return std::nullopt;
  const Json document = Json::parse(file, nullptr, false);
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
  const fs::path target = file_of(key);
  // A name of our own: another call may be at the same point.
  const fs::path unfinished = fmt::format("{}.{}.new", target.string(), getpid());
  std::ofstream file(unfinished);
  file << document.dump(2) << "\n";
  file.close();
  if (!file) return false;
  std::error_code error;
  fs::rename(unfinished, target, error);
  return !error;
}

}  // namespace espalier
