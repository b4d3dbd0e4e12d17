// The protocols of connections: protocols of GPUs (GC3, section 4.3; NCCL's defaults), and messages
// of NIs, whose last flit tells the receiving NI that the data are complete, as schedule tables
// rely on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "alg/program/program.h"

namespace espalier {

struct ProtocolSpec {
  Bytes slot_bytes = 0;     // data of one FIFO slot of a connection: the tile
  std::uint32_t slots = 0;  // messages by which the sender may be ahead of the receiver
  // num / den of the bytes on the wire are data; the rest are flags.
  std::uint32_t payload_num = 1;
  std::uint32_t payload_den = 1;
  bool has_fence = false;  // a flag is written after the data and a fence

  [[nodiscard]] constexpr Bytes wire_bytes(Bytes data) const {
    return (data * payload_den + payload_num - 1) / payload_num;
  }
};

[[nodiscard]] constexpr ProtocolSpec protocol_spec(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple:
      return {Bytes{2} << 20, 2, 1, 1, true};
    case Protocol::ll:
      return {Bytes{32} << 10, 8, 1, 2, false};
    case Protocol::ll128:
      return {576000, 8, 15, 16, false};
    case Protocol::message:
      return {576000, 8, 1, 1, false};
  }
  return {};
}

[[nodiscard]] constexpr ProtocolSpec protocol_spec(const Program& program) {
  ProtocolSpec spec = protocol_spec(program.protocol);
  if (program.one_sided) {
    spec.slot_bytes = Bytes{1} << 62;
    spec.slots = 1U << 31;
    spec.has_fence = false;  // the signal lands after the data
  }
  return spec;
}

// How the chunks of a call move: in tiles, i.e. passes over the whole program, and within a step in
// transactions of one slot each.
struct Tiling {
  Bytes chunk_bytes = 0;
  Bytes tile_bytes = 0;               // of a chunk in one pass; the last one may be shorter
  std::uint64_t tiles = 1;            // passes
  std::uint32_t chunks_per_slot = 1;  // chunks in one transaction

  // Bytes of a chunk in pass `tile`.
  [[nodiscard]] constexpr Bytes bytes_in(std::uint64_t tile) const {
    const Bytes begin = tile * tile_bytes;
    const Bytes left = chunk_bytes - begin;
    return left < tile_bytes ? left : tile_bytes;
  }
  [[nodiscard]] constexpr std::uint32_t transactions(std::uint32_t count) const {
    return (count + chunks_per_slot - 1) / chunks_per_slot;
  }
};

// `size` is as in CollectiveRequest::size. Chunks are equal; the last ones are padded to whole
// elements. Precondition: size > 0.
[[nodiscard]] inline Tiling tile(const Program& program, Bytes size, Bytes element_bytes,
                                 Bytes slot_bytes) {
  constexpr Bytes kMostChunksPerSlot = 71;  // limit of the runtimes (MSCCL-IR, A.8)
  const Bytes elements = (size + element_bytes - 1) / element_bytes;
  Tiling tiling;
  tiling.chunk_bytes = (elements + program.chunks - 1) / program.chunks * element_bytes;
  const Bytes whole_elements = std::max(slot_bytes / element_bytes, Bytes{1}) * element_bytes;
  tiling.tile_bytes = std::min(tiling.chunk_bytes, whole_elements);
  tiling.tiles = (tiling.chunk_bytes + tiling.tile_bytes - 1) / tiling.tile_bytes;
  if (tiling.tiles == 1) {
    const Bytes fit = std::max(slot_bytes / tiling.chunk_bytes, Bytes{1});
    const Bytes most = program.one_sided ? program.chunks : kMostChunksPerSlot;
    tiling.chunks_per_slot = static_cast<std::uint32_t>(std::min(fit, most));
  }
  return tiling;
}

}  // namespace espalier
