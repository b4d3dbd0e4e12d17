// The layout of a dimension plan's data: the finest pieces that its stages distinguish.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/dimensions.h"

namespace espalier {

// How the parts of a chunk differ between nodes.
enum class PartSizes : std::uint8_t {
  automatic,  // equal if that adds at most 1 % to the data
  equal,      // no difference: short parts are padded, and all nodes send the same sizes
  exact       // parts differ by one element if the chunk does not divide evenly
};

struct PieceRange {
  ChunkId first;
  std::uint32_t count = 0;
};

// A chunk of a plan is cut into one piece per node (two if a dimension is a ring, because each
// direction carries half of every block). Pieces are numbered such that the data of every stage are
// consecutive: the digits of a piece's number are its node's coordinates in the order in which the
// chunk's reduce_scatters visit the dimensions, the first one most significant (the visits of an
// all_gather count backwards). After the reduce_scatters, and before the all_gathers, a node has
// the piece with its own digits. Pieces are whole elements.
class PlanLayout {
 public:
  // `plan` and `shape` must outlive this object.
  PlanLayout(const DimensionPlan& plan, const DimensionedShape& shape, Bytes element_bytes,
             PartSizes parts);

  // True if all pieces of a chunk are equal, padded or not. Then all nodes send the same at the
  // same time.
  [[nodiscard]] bool equal_parts() const { return equal_parts_; }
  // Size of all chunks with padding.
  [[nodiscard]] Bytes padded_size() const;

  // Pieces of all chunks in order: ChunkId continues from chunk to chunk. Offsets include padding.
  [[nodiscard]] const std::vector<Chunk>& pieces() const { return pieces_; }
  [[nodiscard]] std::uint32_t pieces_per_chunk() const { return per_chunk_; }
  // Bytes as sent, with padding.
  [[nodiscard]] Bytes bytes(PieceRange range) const {
    const Chunk& last = pieces_[range.first.index() + range.count - 1];
    return last.offset + last.size - pieces_[range.first.index()].offset;
  }

  // The blocks of a stage at a node: consecutive blocks of equally many pieces, from `first` on.
  struct Blocks {
    ChunkId first;
    std::uint32_t pieces = 0;  // of each block
  };
  [[nodiscard]] Blocks blocks_at(StageRef stage, NodeId node) const;
  // The index of the block that begins with `first`.
  [[nodiscard]] std::uint32_t block_of(StageRef stage, NodeId node, ChunkId first) const {
    const Blocks blocks = blocks_at(stage, node);
    return (first.value() - blocks.first.value()) / blocks.pieces;
  }
  // The part of the blocks in `range` that lane `lane` of `lanes` carries. With several lanes,
  // `range` must be one block.
  [[nodiscard]] static PieceRange part_of(const Blocks& blocks, BlockRange range,
                                          std::uint32_t lane, std::uint32_t lanes);

 private:
  // The number of digits of a chunk's pieces that are fixed before a stage, most significant first.
  [[nodiscard]] std::size_t fixed_digits(StageRef stage) const;
  [[nodiscard]] NodeId owner_of(std::uint32_t chunk, std::uint32_t piece) const;
  [[nodiscard]] std::uint32_t dimension_of_digit(std::uint32_t chunk, std::size_t digit) const;

  const DimensionPlan& plan_;
  const DimensionedShape& shape_;
  std::uint32_t per_node_ = 1;  // pieces of one node's part
  std::uint32_t per_chunk_ = 1;
  bool equal_parts_ = true;
  std::vector<Chunk> pieces_;
};

}  // namespace espalier
