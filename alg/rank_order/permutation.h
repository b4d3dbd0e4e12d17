// Permutations of ranks: order[r] is the node of rank r.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

using RankOrder = std::vector<std::uint32_t>;

[[nodiscard]] RankOrder identity_permutation(std::size_t nodes);
// Each of the N! alike (Fisher and Yates); the same one for the same seed, everywhere.
[[nodiscard]] RankOrder random_permutation(std::size_t nodes, std::uint64_t seed);

[[nodiscard]] std::vector<NodeId> to_nodes(const RankOrder& order);
// Every node below order.size() once.
[[nodiscard]] bool is_permutation_of_nodes(const std::vector<NodeId>& order);

}  // namespace espalier
