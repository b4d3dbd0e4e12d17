#include "ni/folded_memory.h"

#include <stdexcept>

namespace espalier {

FoldedMemory::Place FoldedMemory::place_of(const Operation& operation) const {
  Place place;
  place.at = program_.place_of(operation.flow);
  place.stage = program_.stage(place.at.stage);
  if (program_.adds_in_switch(place.stage.dimension)) {
    place.ahead = program_.layout().block_of(place.at.stage, NodeId(0), operation.first_chunk);
    place.from_switch = operation.to == NodeId(0);
    return place;
  }
  const StageSteps& steps = program_.steps_of(place.stage.dimension);
  const DimensionedShape& shape = program_.shape();
  const std::uint32_t self = shape.coordinate(operation.from, place.stage.dimension);
  const std::uint32_t peer = shape.coordinate(operation.to, place.stage.dimension);
  for (; place.send < steps.num_sends(place.stage.kind, place.at.step); ++place.send) {
    const StageSend send =
        steps.send(place.stage.kind, self, place.at.lane, place.at.step, place.send);
    if (send.peer == peer) return place;
  }
  throw std::logic_error("an operation that is none of its stage");
}

FoldedMemory::Counterpart FoldedMemory::counterpart(const Place& place, NodeId node) const {
  const StageSteps& steps = program_.steps_of(place.stage.dimension);
  const DimensionedShape& shape = program_.shape();
  const std::uint32_t self = shape.coordinate(node, place.stage.dimension);
  const auto blocks = program_.layout().blocks_at(place.at.stage, node);
  if (program_.adds_in_switch(place.stage.dimension)) {
    const std::uint32_t owner = (self + place.ahead) % steps.size();
    return {PlanLayout::part_of(blocks, {owner, 1}, 0, 1), place.from_switch ? node : NodeId()};
  }
  const StageSend send =
      steps.send(place.stage.kind, self, place.at.lane, place.at.step, place.send);
  return {PlanLayout::part_of(blocks, send.blocks, place.at.lane, steps.lanes()),
          shape.peer(node, place.stage.dimension, send.peer)};
}

void FoldedMemory::read(const Operation& operation, std::vector<DataTag>& data) const {
  const Place place = place_of(operation);
  data.clear();
  data.reserve(memories_.size() * operation.num_chunks);
  for (std::size_t n = 0; n < memories_.size(); ++n) {
    const PieceRange pieces = counterpart(place, NodeId(n)).pieces;
    const DataTag* first = memories_[n].read_from(pieces.first);
    data.insert(data.end(), first, first + pieces.count);
  }
}

void FoldedMemory::write(const Operation& operation, const std::vector<DataTag>& data) {
  const Place place = place_of(operation);
  const DataTag* tags = data.data();
  for (std::size_t n = 0; n < memories_.size(); ++n) {
    const Counterpart mine = counterpart(place, NodeId(n));
    NodeMemory& receiver = memories_[mine.to.index()];
    if (operation.on_arrival == TransferKind::reduce) {
      receiver.reduce(mine.pieces.first, tags, mine.pieces.count);
    } else {
      receiver.copy(mine.pieces.first, tags, mine.pieces.count);
    }
    tags += mine.pieces.count;
  }
}

}  // namespace espalier
