#include "alg/plans/plan_layout.h"

#include <algorithm>

namespace espalier {

namespace {

constexpr Bytes kMostPaddingPercent = 1;

// Elements of a piece if all pieces of the chunk are equal.
std::uint64_t padded_piece(const PlannedChunk& chunk, std::uint32_t pieces, Bytes element_bytes) {
  return (chunk.size / element_bytes + pieces - 1) / pieces;
}

}  // namespace

PlanLayout::PlanLayout(const DimensionPlan& plan, const DimensionedShape& shape,
                       Bytes element_bytes, PartSizes parts)
    : plan_(plan), shape_(shape) {
  const auto& dimensions = plan.dimensions;
  const bool has_ring = std::any_of(
      dimensions.begin(), dimensions.end(),
      [](const PlannedDimension& d) { return d.algorithm == DimensionAlgorithm::ring; });
  per_node_ = has_ring ? 2 : 1;
  per_chunk_ = static_cast<std::uint32_t>(plan.num_nodes()) * per_node_;
  Bytes padded = 0;
  for (const PlannedChunk& chunk : plan.chunks) {
    padded += padded_piece(chunk, per_chunk_, element_bytes) * per_chunk_ * element_bytes;
  }
  const bool pads_little = (padded - plan.size) * 100 <= plan.size * kMostPaddingPercent;
  equal_parts_ = padded == plan.size || parts == PartSizes::equal ||
                 (parts == PartSizes::automatic && pads_little);
  pieces_.reserve(plan.chunks.size() * per_chunk_);
  Bytes offset = 0;
  for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
    const std::uint64_t elements =
        equal_parts_ ? padded_piece(plan.chunks[c], per_chunk_, element_bytes) * per_chunk_
                     : plan.chunks[c].size / element_bytes;
    std::uint64_t begin = 0;
    for (std::uint32_t p = 0; p < per_chunk_; ++p) {
      const std::uint64_t end = elements * (p + 1) / per_chunk_;
      pieces_.push_back({offset + begin * element_bytes, (end - begin) * element_bytes,
                         owner_of(c, p), NodeId()});
      begin = end;
    }
    offset += elements * element_bytes;
  }
}

Bytes PlanLayout::padded_size() const {
  return pieces_.empty() ? 0 : pieces_.back().offset + pieces_.back().size;
}

NodeId PlanLayout::owner_of(std::uint32_t chunk, std::uint32_t piece) const {
  std::uint32_t rest = piece / per_node_;
  std::uint32_t owner = 0;
  for (std::size_t digit = plan_.dimensions.size(); digit-- > 0;) {
    const std::uint32_t d = dimension_of_digit(chunk, digit);
    owner += rest % plan_.dimensions[d].size * shape_.stride(d);
    rest /= plan_.dimensions[d].size;
  }
  return NodeId(owner);
}

std::uint32_t PlanLayout::dimension_of_digit(std::uint32_t chunk, std::size_t digit) const {
  const auto& stages = plan_.chunks[chunk].stages;
  const bool counts_backwards = stages.front().kind == StageKind::all_gather;
  return stages[counts_backwards ? stages.size() - 1 - digit : digit].dimension;
}

std::size_t PlanLayout::fixed_digits(StageRef stage) const {
  const auto& stages = plan_.chunks[stage.chunk].stages;
  return stages[stage.stage].kind == StageKind::reduce_scatter ? stage.stage
                                                               : stages.size() - 1 - stage.stage;
}

PlanLayout::Blocks PlanLayout::blocks_at(StageRef stage, NodeId node) const {
  std::uint32_t first = stage.chunk * per_chunk_;
  std::uint32_t width = per_chunk_;
  const std::size_t fixed = fixed_digits(stage);
  for (std::size_t digit = 0; digit < fixed; ++digit) {
    const std::uint32_t d = dimension_of_digit(stage.chunk, digit);
    width /= plan_.dimensions[d].size;
    first += shape_.coordinate(node, d) * width;
  }
  width /= plan_.dimensions[dimension_of_digit(stage.chunk, fixed)].size;
  return {ChunkId(first), width};
}

PieceRange PlanLayout::part_of(const Blocks& blocks, BlockRange range, std::uint32_t lane,
                               std::uint32_t lanes) {
  const std::uint32_t per_lane = range.count * blocks.pieces / lanes;
  const std::size_t first = blocks.first.index() + std::size_t{range.first} * blocks.pieces +
                            std::size_t{lane} * per_lane;
  return {ChunkId(first), per_lane};
}

}  // namespace espalier
