#include "sims/experiment/point_content.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/point/config.h"
#include "sims/text/file_hashes.h"

namespace espalier {

nlohmann::ordered_json point_content(const RunPoint& point) {
  nlohmann::ordered_json content;
  content["config"] = resolved_json(point);
  const std::filesystem::path folder = point.system.topology.folder;
  for (const Key& key : keys()) {
    const bool is_used = key.resolved && has_section_of(point, key) && key.applies_at(point);
    if (!is_used || key.shape.type != ValueType::text) continue;
    const std::string text = key.get(point).text;
    // A word such as "random" is not the name of a file.
    if (!key.shape.zero_word.empty() && !is_path(text, key.shape)) continue;
    if (text.empty()) {
      content["files"][key.name] = hash_text(text);  // the value is not a file
      continue;
    }
    // The hash is of the text that the reader saw: the file may have changed since.
    const auto hash = point.file_hashes.find((folder / text).string());
    if (hash == point.file_hashes.end())
      throw std::logic_error(key.name + ": the file was named but not read: " + text);
    content["files"][key.name] = hash->second;
  }
  return content;
}

}  // namespace espalier
