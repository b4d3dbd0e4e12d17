// From a traced program to thread blocks (GC3, sections 4 and 5): chunk DAG, instruction DAG,
// fusion, channels, order, blocks, waits.
#pragma once

#include "alg/program/chunk_language.h"
#include "alg/program/instruction_dag.h"

namespace espalier {

struct CompileOptions {
  bool fuse = true;
  std::uint32_t slots = 0;           // of a connection; 0: the protocol's
  std::uint32_t most_channels = 32;  // for what is not directed
};

// Ends on any number of tiles with these slots, whether a slot takes all chunks of a step or one.
// To that end it takes fused instructions apart, and in the last resort fuses none.
// Throws ChunkError where the parallel fragments need too many chunks.
[[nodiscard]] Program compile(const ChunkTrace& trace, const CompileOptions& options = {});

}  // namespace espalier
