#include "sims/experiment/point_content.h"

#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/text/read_file.h"

namespace espalier {

std::uint64_t hash_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kOffsetBasis = 14695981039346656037ULL;
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  std::uint64_t hash = kOffsetBasis;
  for (const char c : read_file_bytes(path.string()).text.value_or(""))
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

nlohmann::ordered_json point_content(const RunPoint& point) {
  nlohmann::ordered_json content;
  content["config"] = resolved_json(point);
  const std::filesystem::path folder = point.system.topology.folder;
  for (const Key& key : keys()) {
    const bool is_used = key.resolved && has_section_of(point, key) && key.applies_at(point);
    if (!is_used || key.shape.type != ValueType::text) continue;
    const std::string text = key.get(point).text;
    // Words that stand for no file.
    if (!key.shape.zero_word.empty() && !is_path(text, key.shape)) continue;
    content["files"][key.name] = hash_file(folder / text);
  }
  return content;
}

}  // namespace espalier
