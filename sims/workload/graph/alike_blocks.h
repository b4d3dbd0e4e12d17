// One block of ranks for all that look alike. Ranks that do not communicate with others, on links
// that no others use, run as if they were alone. If several such blocks do the same work on
// networks that are alike to the port, they take the same cycles, and one of them is enough to
// simulate: to the end, or until ranks of several blocks meet.
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

struct AlikeWork {
  // All ranks are in one each. Empty if ranks are not several blocks that look alike, or if it is
  // not known: on a network without routes of its own, and for blocks of more than 1024 ranks.
  std::vector<AlikeBlock> blocks;
  std::vector<bool> joins;  // by group: its collectives are among ranks of several blocks
};

// `nodes`: by rank. `may_meet`: ranks of several blocks may meet, provided that all ranks share one
// RankWork without messages; of all such blocks, those that save most nodes.
[[nodiscard]] AlikeWork find_alike_blocks(const WorkGraph& graph, const Topology& topology,
                                          const std::vector<NodeId>& nodes, bool may_meet);

}  // namespace espalier
