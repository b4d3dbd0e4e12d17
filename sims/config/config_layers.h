// Configurations in part that are laid over each other (a figure's, a panel's, a series', a
// point's), and paths of files as they look from another folder.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// `upper` over `lower`: sections are joined key by key, every other value of `upper` replaces
// `lower`'s. Places stay those of the file that a value comes from.
[[nodiscard]] ConfigNode lay_over(const ConfigNode& lower, const ConfigNode& upper);

// What stands behind a `config` key: sections of keys in place, or the path of a configuration file
// relative to `folder`. Paths within such a file are rewritten as they look from `folder`. nullopt:
// errors were recorded.
[[nodiscard]] std::optional<ConfigNode> load_layer(const ConfigNode& node,
                                                   const std::filesystem::path& folder,
                                                   Diagnostics& diagnostics);

// `file`, relative to `folder`, as it looks from `new_folder`; an absolute one stays. Both folders
// may be reached by symbolic links.
[[nodiscard]] std::string moved_path(const std::string& file, const std::filesystem::path& folder,
                                     const std::filesystem::path& new_folder);

// The same for every path in a resolved configuration.
[[nodiscard]] nlohmann::ordered_json with_moved_paths(nlohmann::ordered_json config,
                                                      const std::filesystem::path& folder,
                                                      const std::filesystem::path& new_folder);

}  // namespace espalier
