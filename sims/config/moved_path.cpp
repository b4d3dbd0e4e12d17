#include "sims/config/moved_path.h"

#include "sims/config/keys.h"

namespace espalier {

namespace fs = std::filesystem;

namespace {

// Without symbolic links, whose ".." is not where they stand.
fs::path real_folder(const fs::path& folder) {
  return fs::weakly_canonical(folder.empty() ? fs::path(".") : folder);
}

void move_paths(nlohmann::ordered_json& section, const std::string& name, const fs::path& folder,
                const fs::path& new_folder) {
  for (auto& [part, value] : section.items()) {
    const std::string inner = join_key(name, part);
    if (value.is_object()) move_paths(value, inner, folder, new_folder);
    const Key* key = find_key(inner);
    if (key == nullptr || !value.is_string()) continue;
    if (!is_path(value.get<std::string>(), key->shape)) continue;
    value = moved_path(value.get<std::string>(), folder, new_folder);
  }
}

}  // namespace

std::string moved_path(const std::string& file, const fs::path& folder,
                       const fs::path& new_folder) {
  const fs::path path(file);
  if (path.is_absolute()) return file;
  const fs::path from = real_folder(folder / path.parent_path());
  return (from / path.filename()).lexically_relative(real_folder(new_folder)).string();
}

nlohmann::ordered_json with_moved_paths(nlohmann::ordered_json config, const fs::path& folder,
                                        const fs::path& new_folder) {
  move_paths(config, "", folder, new_folder);
  return config;
}

}  // namespace espalier
