// Paths of files as they look from another folder, for a document that is written there.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace espalier {

// `file`, relative to `folder`, as it looks from `new_folder`; an absolute one stays. Both folders
// may be reached by symbolic links.
[[nodiscard]] std::string moved_path(const std::string& file, const std::filesystem::path& folder,
                                     const std::filesystem::path& new_folder);

// The same for every path in a resolved configuration.
[[nodiscard]] nlohmann::ordered_json with_moved_paths(nlohmann::ordered_json config,
                                                      const std::filesystem::path& folder,
                                                      const std::filesystem::path& new_folder);

}  // namespace espalier
