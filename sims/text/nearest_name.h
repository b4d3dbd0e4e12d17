// "Did you mean": finds the valid name that is nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier {

// The number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into
// `b`.
[[nodiscard]] std::size_t edit_distance(const std::string& a, const std::string& b);

// The first of the nearest candidates, ignoring letter case; empty if no candidate is near enough.
[[nodiscard]] std::string nearest_name(const std::string& name,
                                       const std::vector<std::string>& candidates);

// "did you mean 'x'?", or the list of all candidates if no name is near.
[[nodiscard]] std::string name_hint(const std::string& name,
                                    const std::vector<std::string>& candidates);

}  // namespace espalier
