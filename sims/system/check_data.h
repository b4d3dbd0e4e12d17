#pragma once

#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "ni/node_memory.h"

namespace espalier {

// By rank. Whether every rank's memory holds what the collective promises it; the first rank and
// chunk that are wrong, empty if none are. `first`: see NodeMemory.
[[nodiscard]] std::string check_data(const std::vector<NodeMemory>& memories, CollectiveOp op,
                                     const std::vector<Chunk>& chunks, ChunkId first = ChunkId(0));

}  // namespace espalier
