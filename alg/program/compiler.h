// Compiles a traced program to thread blocks (GC3, sections 4 and 5): instances, instruction DAG,
// fusion, channels, order, blocks, waits.
#pragma once

#include <cstdint>

#include "alg/program/chunk_language.h"

namespace espalier {

// The thread block that runs a local instruction (copy, reduce).
enum class LocalPlacement : std::uint8_t {
  idlest,    // the block whose last instruction is the earliest (GC3, section 5.2)
  with_data  // the block of the last instruction whose result it uses: it waits for no other
             // message
};

struct CompileOptions {
  bool fuse = true;
  std::uint32_t slots = 0;           // of a connection; 0: the protocol's number
  std::uint32_t most_channels = 32;  // for messages without a directed channel
  LocalPlacement locals = LocalPlacement::idlest;
};

// With these slots the program ends for any number of tiles, whether a slot takes one chunk of a
// step or all of them. If necessary, the compiler splits fused instructions, or as a last resort
// fuses none. Throws ChunkError if the parallel fragments need too many chunks.
[[nodiscard]] Program compile(const ChunkTrace& trace, const CompileOptions& options = {});

}  // namespace espalier
