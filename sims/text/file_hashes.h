// Which texts a run was read from. A simulation in another process reads its files again, and must
// find the same texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace espalier {

// 64-bit FNV-1a of the bytes, which need not be UTF-8.
[[nodiscard]] std::uint64_t hash_text(const std::string& text);

// The hash of each file's text as it was parsed, by the path that was opened.
using FileHashes = std::map<std::string, std::uint64_t>;

// "0123456789abcdef path", a file each, for a worker's command line.
[[nodiscard]] std::vector<std::string> to_words(const FileHashes& files);

// The first file in `now` whose text is not the one that `before`, in words, had; empty if there is
// none. Files that only one side has read do not count.
[[nodiscard]] std::string changed_file(const std::vector<std::string>& before,
                                       const FileHashes& now);

// What a worker reports of such a file.
[[nodiscard]] std::string changed_file_error(const std::string& path);

}  // namespace espalier
