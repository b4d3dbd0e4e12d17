// The one reader of input files. It refuses what is not a file or a pipe, and what is larger than
// any input that makes sense: a mistyped path must not fill the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sims/text/diagnostics.h"

namespace espalier {

inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

struct FileText {
  std::optional<std::string> text;
  // Where there is no text: why, as the rest of a sentence that begins with the file ("is a
  // folder").
  std::string problem;
};

// Any bytes from a file of any name. Pipes are read to their end; devices and sockets are refused.
[[nodiscard]] FileText read_file_bytes(const std::string& path,
                                       std::uint64_t most_bytes = kMostFileBytes);

// A file that a user names. Its path must be UTF-8, because results name it in JSON.
[[nodiscard]] FileText read_file_text(const std::string& path);

// A file that another one names at `place`, where an error is recorded.
[[nodiscard]] std::optional<std::string> read_named_file(
    const std::string& path, const Place& place, Diagnostics& diagnostics,
    const std::string& hint = "the path is relative to the configuration's folder");

}  // namespace espalier
