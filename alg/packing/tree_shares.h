// How much of the data each of several trees carries, if together they shall not overload links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

// By tree: its links, one several times if the tree uses it several times.
using LinkLists = std::vector<std::vector<std::uint32_t>>;

// Seconds per byte of the data, if each tree carries as much. `rates`: by link.
[[nodiscard]] double seconds_of(const LinkLists& trees, const std::vector<double>& rates);

// Shares of the data for trees of which no link is overloaded: every round the cheapest tree gets
// some more, and its links become dearer (Garg, Koenemann 2007).
[[nodiscard]] std::vector<double> shares_of(const LinkLists& trees,
                                            const std::vector<double>& rates);

// About `count` numbers of trees, the ones with large shares several times.
[[nodiscard]] std::vector<std::size_t> repeated(const std::vector<double>& share, double count);

}  // namespace espalier
