// One block of ranks for all that look alike. Ranks that never communicate with others, on links
// that no others use, run as if they were alone. If several such blocks do the same work on
// networks that are alike to the port, they take the same cycles, and one of them is enough to
// simulate.
#pragma once

#include <vector>

#include "hw/ids.h"
#include "hw/topology/topology.h"
#include "sims/workload/graph/work_graph.h"

namespace espalier {

struct AlikeBlock {
  std::vector<std::uint32_t> ranks;  // ascending; ranks at one place in all blocks are alike
  std::vector<LinkId> links;         // of routes between its ranks; likewise
};

// All ranks of the graph are in one block each. A single block if the ranks are not several blocks
// that look alike, or if it is not known: on a network without routes of its own, and for blocks of
// more than 1024 ranks. `nodes`: by rank.
[[nodiscard]] std::vector<AlikeBlock> alike_blocks(const WorkGraph& graph, const Topology& topology,
                                                   const std::vector<NodeId>& nodes);

}  // namespace espalier
