// Reads every input file. Refuses devices and sockets, and files larger than any sensible input, so
// that a mistyped path does not fill the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sims/text/diagnostics.h"

namespace espalier {

inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

struct FileText {
  std::optional<std::string> text;
  // If there is no text: the reason, to be appended to the name of the file ("is a folder").
  std::string problem;
  bool is_foreign = false;  // the problem is a format of another tool, which no command reads
};

// Reads a file with any name and any contents. Pipes are read to their end; devices and sockets are
// refused.
[[nodiscard]] FileText read_file_bytes(const std::string& path,
                                       std::uint64_t most_bytes = kMostFileBytes);

// Reads a file that this program has kept. A pipe in its place would block the reader.
[[nodiscard]] FileText read_kept_file(const std::string& path);

// Reads a file that the user names. Its path must be UTF-8, because results contain the path in
// JSON. Formats of other tools that no command reads are refused by name.
[[nodiscard]] FileText read_file_text(const std::string& path);

// The path of a file that a configuration in `folder` names.
[[nodiscard]] std::string path_from(const std::string& folder, const std::string& file);

// Reads a file that another file names at `place`. Errors are recorded at `place`.
[[nodiscard]] std::optional<std::string> read_named_file(
    const std::string& path, const Place& place, Diagnostics& diagnostics,
    const std::string& hint = "the path is relative to the configuration's folder");

}  // namespace espalier
