// Recursive halving and doubling over ranks that may sit anywhere.
#pragma once

#include <vector>

#include "alg/generators/generator.h"

namespace espalier {

// rank_at[r] is the node of rank r, every node once. Chunks lie in the order of the ranks of
// request.rank_order; where that is empty, of these.
// Precondition: unsuited_for_routes(topology) is empty.
[[nodiscard]] Schedule halving_doubling(const char* algorithm, const Topology& topology,
                                        const CollectiveRequest& request,
                                        const std::vector<NodeId>& rank_at);

// HDRM's rank_at. Precondition: unsuited_for_hdrm(topology) is empty.
[[nodiscard]] std::vector<NodeId> hdrm_ranks(const Topology& topology);

}  // namespace espalier
