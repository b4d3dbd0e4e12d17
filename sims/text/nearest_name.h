// "Did you mean": the valid name nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier {

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(const std::string& a, const std::string& b);

// The first of the nearest candidates, letter case aside; empty where none is near enough to be
// meant.
[[nodiscard]] std::string nearest_name(const std::string& name,
                                       const std::vector<std::string>& candidates);

// "did you mean 'x'?", or else the list of all candidates.
[[nodiscard]] std::string name_hint(const std::string& name,
                                    const std::vector<std::string>& candidates);

}  // namespace espalier
