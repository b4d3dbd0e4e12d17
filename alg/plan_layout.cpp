#include "alg/plan_layout.h"

#include <algorithm>

namespace espalier {

PlanLayout::PlanLayout(const DimensionPlan& plan, const DimensionedShape& shape,
                       Bytes element_bytes)
    : plan_(plan), shape_(shape) {
  const auto& dimensions = plan.dimensions;
  const bool has_ring = std::any_of(
      dimensions.begin(), dimensions.end(),
      [](const PlannedDimension& d) { return d.algorithm == DimensionAlgorithm::ring; });
  per_node_ = has_ring ? 2 : 1;
  per_chunk_ = static_cast<std::uint32_t>(plan.num_nodes()) * per_node_;
  pieces_.reserve(plan.chunks.size() * per_chunk_);
  for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
    const PlannedChunk& chunk = plan.chunks[c];
    const std::uint64_t elements = chunk.size / element_bytes;
    std::uint64_t begin = 0;
    for (std::uint32_t p = 0; p < per_chunk_; ++p) {
      const std::uint64_t end = elements * (p + 1) / per_chunk_;
      std::uint32_t rest = p / per_node_;
      std::uint32_t owner = 0;
      for (std::size_t digit = dimensions.size(); digit-- > 0;) {
        const std::uint32_t d = dimension_of_digit(c, digit);
        owner += rest % dimensions[d].size * shape.stride(d);
        rest /= dimensions[d].size;
      }
      pieces_.push_back({chunk.offset + begin * element_bytes, (end - begin) * element_bytes,
                         NodeId(owner), NodeId()});
      begin = end;
    }
  }
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
