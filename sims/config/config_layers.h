// Partial configurations that are laid over each other (the cases of a sweep's axes), and file
// paths as seen from another folder.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Lays `upper` over `lower`: sections are merged key by key, and every other value of `upper`
// replaces the value of `lower`. A value keeps its place in the file that it comes from.
[[nodiscard]] ConfigNode lay_over(const ConfigNode& lower, const ConfigNode& upper);

// Loads the value of a `config` key: sections of keys, or the path of a configuration file relative
// to `folder`. Paths in such a file are rewritten to be relative to `folder`. Returns nullopt if
// errors were recorded.
[[nodiscard]] std::optional<ConfigNode> load_layer(const ConfigNode& node,
                                                   const std::filesystem::path& folder,
                                                   Diagnostics& diagnostics);

// The path from `new_folder` to `file`, which is relative to `folder`. An absolute path stays as it
// is. Symbolic links on the way to the folders are resolved.
[[nodiscard]] std::string moved_path(const std::string& file, const std::filesystem::path& folder,
                                     const std::filesystem::path& new_folder);

// The same for every path in a resolved configuration.
[[nodiscard]] nlohmann::ordered_json with_moved_paths(nlohmann::ordered_json config,
                                                      const std::filesystem::path& folder,
                                                      const std::filesystem::path& new_folder);

}  // namespace espalier
