// Files that are complete or absent, even if the program or the machine stops while it writes.
#pragma once

#include <filesystem>
#include <string>

namespace espalier {

// Writes a file beside `path` and renames it. False if it cannot be written.
[[nodiscard]] bool write_whole_file(const std::filesystem::path& path, const std::string& text);

// Removes files that write_whole_file left in the folder when its process, on this machine, ended.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace espalier
