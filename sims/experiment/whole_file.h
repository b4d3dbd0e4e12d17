// Files that are complete or absent, even if the program or the machine stops while it writes.
#pragma once

#include <filesystem>
#include <string>

namespace espalier {

// Writes a file beside `path` and renames it. False if it cannot be written.
[[nodiscard]] bool write_whole_file(const std::filesystem::path& path, const std::string& text);

// Removes temporary files that processes of this machine left in the folder when they were killed.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace espalier
