// An order of about a given cost, to compare what a model says with what is measured over its whole
// range (Luo et al., section V-B).
#pragma once

#include <cstdint>
#include <functional>

#include "alg/rank_order/permutation.h"

namespace espalier {

// From `start`, pairs of ranks that `seed` draws are swapped as long as that brings the order
// nearer to `cost`; until it is within half a hundredth of it, or many draws in a row have brought
// nothing.
[[nodiscard]] RankOrder order_of_cost(RankOrder start, double cost, std::uint64_t seed,
                                      const std::function<double(const RankOrder&)>& cost_of);

}  // namespace espalier
