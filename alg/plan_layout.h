// Where the data of a dimension plan lie: the finest pieces that its stages tell apart.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/dimension_plan.h"
#include "alg/schedule.h"
#include "hw/dimensions.h"

namespace espalier {

struct PieceRange {
  ChunkId first;
  std::uint32_t count = 0;
};

// A plan's chunk is cut into one piece per node (two where a dimension is a ring: each direction
// carries half of every block), numbered so that the data of every stage are a range: the digits of
// a piece's number are its node's coordinates in the order in which the chunk's reduce_scatters
// visit the dimensions, the first one most significant (an all_gather's visits count backwards).
// After the reduce_scatters, and before the all_gathers, a node has the piece with its own digits.
// Pieces are whole elements and differ by at most one.
class PlanLayout {
 public:
  // `plan` and `shape` must outlive it.
  PlanLayout(const DimensionPlan& plan, const DimensionedShape& shape, Bytes element_bytes);

  // Pieces of all chunks, in order: ChunkId counts on from chunk to chunk.
  [[nodiscard]] const std::vector<Chunk>& pieces() const { return pieces_; }
  [[nodiscard]] std::uint32_t pieces_per_chunk() const { return per_chunk_; }
  [[nodiscard]] Bytes bytes(PieceRange range) const {
    const Chunk& last = pieces_[range.first.index() + range.count - 1];
    return last.offset + last.size - pieces_[range.first.index()].offset;
  }

  // The blocks of a stage at a node: equally many pieces each, in a row from `first` on.
  struct Blocks {
    ChunkId first;
    std::uint32_t pieces = 0;  // of each block
  };
  [[nodiscard]] Blocks blocks_at(StageRef stage, NodeId node) const;
  // What of them lane `lane` of `lanes` carries. Several lanes: one block at a time.
  [[nodiscard]] static PieceRange part_of(const Blocks& blocks, BlockRange range,
                                          std::uint32_t lane, std::uint32_t lanes);

 private:
  // Digits of a chunk's pieces that are fixed before a stage, most significant first.
  [[nodiscard]] std::size_t fixed_digits(StageRef stage) const;
  [[nodiscard]] std::uint32_t dimension_of_digit(std::uint32_t chunk, std::size_t digit) const;

  const DimensionPlan& plan_;
  const DimensionedShape& shape_;
  std::uint32_t per_node_ = 1;  // pieces of one node's part
  std::uint32_t per_chunk_ = 1;
  std::vector<Chunk> pieces_;
};

}  // namespace espalier
