#include "alg/program/protocol.h"

#include <algorithm>

namespace espalier {

namespace {
// What runtimes let travel in one transaction (MSCCL-IR, A.8).
constexpr Bytes kMostChunksPerSlot = 71;
}  // namespace

Tiling tile(const Program& program, Bytes size, Bytes element_bytes, Bytes slot_bytes) {
  const Bytes elements = (size + element_bytes - 1) / element_bytes;
  Tiling tiling;
  tiling.chunk_bytes = (elements + program.chunks - 1) / program.chunks * element_bytes;
  const Bytes whole_elements = std::max(slot_bytes / element_bytes, Bytes{1}) * element_bytes;
  tiling.tile_bytes = std::min(tiling.chunk_bytes, whole_elements);
  tiling.tiles = (tiling.chunk_bytes + tiling.tile_bytes - 1) / tiling.tile_bytes;
  if (tiling.tiles == 1) {
    const Bytes fit = std::max(slot_bytes / tiling.chunk_bytes, Bytes{1});
    tiling.chunks_per_slot = static_cast<std::uint32_t>(std::min(fit, kMostChunksPerSlot));
  }
  return tiling;
}

}  // namespace espalier
