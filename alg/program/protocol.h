// What the protocols of connections differ in (GC3, section 4.3; NCCL's defaults).
#pragma once

#include <cstdint>

#include "alg/program/program.h"

namespace espalier {

struct ProtocolSpec {
  // Data that one FIFO slot of a connection holds: the tile.
  Bytes slot_bytes = 0;
  std::uint32_t slots = 0;  // messages that the sender may be ahead of the receiver
  // Of the bytes on the wire, num / den are data; the rest are flags.
  std::uint32_t payload_num = 1;
  std::uint32_t payload_den = 1;
  bool has_fence = false;  // a flag is written after the data, behind a fence

  // On the wire.
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
  }
  return {};
}

// How the chunks of a call move: in passes over the whole program (tiles), and per step in
// transactions of one slot each.
struct Tiling {
  Bytes chunk_bytes = 0;
  Bytes tile_bytes = 0;               // of one chunk in one pass; the last one may be shorter
  std::uint64_t tiles = 1;            // passes
  std::uint32_t chunks_per_slot = 1;  // that travel in one transaction

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

// `size` in the sense of CollectiveRequest::size. Chunks are equal: the last ones are padded to
// whole elements. Precondition: size > 0.
[[nodiscard]] Tiling tile(const Program& program, Bytes size, Bytes element_bytes,
                          Bytes slot_bytes);

}  // namespace espalier
