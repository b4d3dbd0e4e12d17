// Hashes of the texts that a run was read from. A simulation in another process reads its files
// again and must find the same texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace espalier {

// 64-bit FNV-1a of the bytes, which need not be UTF-8. Of a text in pieces: `hash` is that of the
// pieces before this one.
[[nodiscard]] std::uint64_t hash_text(const std::string& text,
                                      std::uint64_t hash = 14695981039346656037ULL);

// The hash of each file's text as it was parsed, by the path that was opened.
using FileHashes = std::map<std::string, std::uint64_t>;

// One word for each file, "0123456789abcdef path", for a worker's command line.
[[nodiscard]] std::vector<std::string> to_words(const FileHashes& files);

// Returns the first file in `now` whose text differs from that in `before` (a result of to_words);
// empty if there is none. Files that only one side has read are ignored.
[[nodiscard]] std::string changed_file(const std::vector<std::string>& before,
                                       const FileHashes& now);

// Returns the first file of `before` that is not in `now` and does not exist; empty if there is
// none.
[[nodiscard]] std::string removed_file(const std::vector<std::string>& before,
                                       const FileHashes& now);

// A worker's error text for a changed file.
[[nodiscard]] std::string changed_file_error(const std::string& path);

}  // namespace espalier
