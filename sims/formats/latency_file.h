// A matrix of measured latencies in a table of comma-separated values: a line for each node, in it
// the latency to each node; whole numbers in any unit. What stands on the diagonal means nothing.
// '#' starts a comment; blank lines and blanks around a value mean nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sims/text/diagnostics.h"

namespace espalier {

// By from * nodes + to. `file_name` is for diagnostics.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> parse_latencies(
    const std::string& file_name, const std::string& text, std::size_t nodes,
    Diagnostics& diagnostics);

}  // namespace espalier
