// Tabu search (Glover, 1989) over swaps.
#pragma once

#include "alg/rank_order/best_order.h"
#include "alg/rank_order/random_source.h"

namespace espalier {

// In each round the best of a sample of random swaps is made, better or not, whose two nodes have
// not been moved for a while; one that beats everything so far is made in any case. From the order
// that `cost` has, with `evaluations` of it, the start's own included.
void tabu_search(OrderCost& cost, RandomSource& random, std::uint64_t evaluations, BestOrder& best,
                 const SearchProgress& progress);

}  // namespace espalier
