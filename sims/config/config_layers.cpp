#include "sims/config/config_layers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sims/config/keys.h"
#include "sims/text/read_file.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

void rewrite(ConfigNode& value, const ValueShape& shape, const fs::path& to_folder) {
  if (value.kind != ConfigNode::Kind::scalar || !is_path(value.text, shape)) return;
  if (fs::path(value.text).is_absolute()) return;
  value.text = (to_folder / value.text).lexically_normal().string();
}

void rewrite_paths(ConfigNode& node, const std::string& name, const fs::path& to_folder) {
  for (ConfigEntry& entry : node.entries) {
    const std::string inner = join_key(name, entry.key);
    rewrite_paths(entry.value, inner, to_folder);
    const Key* key = find_key(inner);
    if (key == nullptr) continue;
    rewrite(entry.value, key->shape, to_folder);
    for (ConfigNode& item : entry.value.items) rewrite(item, key->shape, to_folder);
  }
}

std::optional<ConfigNode> load_file(const ConfigNode& node, const fs::path& folder,
                                    Diagnostics& diagnostics) {
  const fs::path path = folder / node.text;
  const FileText file = read_file_text(path.string());
  if (!file.text) {
    diagnostics.error(node.place,
                      fmt::format("config: the file {} {}", path.string(), file.problem));
    return std::nullopt;
  }
  const SourceIndex source = diagnostics.add_file(path.string(), *file.text);
  auto root = load_yaml(*file.text, source, diagnostics);
  if (!root) return std::nullopt;
  if (root->kind != ConfigNode::Kind::map) {
    diagnostics.error({source, 1, 1}, "expected a configuration, which is a mapping of sections");
    return std::nullopt;
  }
  rewrite_paths(*root, "", fs::path(node.text).parent_path());
  return root;
}

}  // namespace

ConfigNode lay_over(const ConfigNode& lower, const ConfigNode& upper) {
  if (lower.kind != ConfigNode::Kind::map || upper.kind != ConfigNode::Kind::map) return upper;
  ConfigNode joined = lower;
  for (const ConfigEntry& entry : upper.entries) {
    ConfigEntry* below = nullptr;
    for (ConfigEntry& candidate : joined.entries) {
      if (candidate.key == entry.key) below = &candidate;
    }
    if (below == nullptr) {
      joined.entries.push_back(entry);
    } else {
      *below = {entry.key, entry.place, lay_over(below->value, entry.value)};
    }
  }
  return joined;
}

std::optional<ConfigNode> load_layer(const ConfigNode& node, const fs::path& folder,
                                     Diagnostics& diagnostics) {
  if (node.kind == ConfigNode::Kind::map) return node;
  if (node.kind == ConfigNode::Kind::scalar && !node.text.empty())
    return load_file(node, folder, diagnostics);
  diagnostics.error(node.place,
                    "config: expected sections of keys, or the path of a configuration file",
                    "config: {collective: {algorithm: multitree}}");
  return std::nullopt;
}

namespace {

// Resolves symbolic links, because the parent (..) of a link is the parent of its target.
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
