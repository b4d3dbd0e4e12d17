// Simulated annealing (Kirkpatrick, Gelatt, Vecchi, 1983).
#pragma once

#include "alg/rank_order/best_order.h"
#include "alg/rank_order/random_source.h"

namespace espalier {

// From the order that `cost` has, with `evaluations` of it, the start's own included. The
// temperature falls from a share of the mean change as the fourth power of what is left of the
// budget.
void anneal(OrderCost& cost, RandomSource& random, std::uint64_t evaluations, BestOrder& best,
            const SearchProgress& progress);

// Exponentially distributed with mean 1, within 9 %, from arithmetic that is the same on every
// machine: the logarithm is linear between powers of two.
[[nodiscard]] double exponential(std::uint64_t random_bits);

}  // namespace espalier
