// Files that are there as a whole or not at all, whatever ends the program or the machine.
#pragma once

#include <filesystem>
#include <string>

namespace espalier {

// By a file beside it that is then renamed. False where it cannot be written.
[[nodiscard]] bool write_whole_file(const std::filesystem::path& path, const std::string& text);

// What processes of this machine that are no more left behind in the folder.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace espalier
