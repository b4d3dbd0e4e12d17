#include "ni/folded_replay.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <utility>

namespace espalier {

namespace {

std::vector<NodeMemory> memories_before(CollectiveOp op, const std::vector<Chunk>& pieces,
                                        std::size_t nodes) {
  std::vector<NodeMemory> memories;
  memories.reserve(nodes);
  for (std::size_t n = 0; n < nodes; ++n) memories.emplace_back(NodeId(n), op, pieces);
  return memories;
}

}  // namespace

FoldedReplay::Place FoldedReplay::place_of(const Operation& operation) const {
  Place place;
  place.at = program_.place_of(operation.flow);
  const PlannedStage& stage = program_.stage(place.at.stage);
  const StageSteps& steps = program_.steps_of(stage.dimension);
  const DimensionedShape& shape = program_.shape();
  const std::uint32_t self = shape.coordinate(operation.from, stage.dimension);
  const std::uint32_t peer = shape.coordinate(operation.to, stage.dimension);
  for (; place.send < steps.num_sends(stage.kind, place.at.step); ++place.send) {
    const StageSend send = steps.send(stage.kind, self, place.at.lane, place.at.step, place.send);
    if (send.peer == peer) return place;
  }
  throw std::logic_error("an operation that is none of its stage");
}

FoldedReplay::Counterpart FoldedReplay::counterpart(const Place& place, NodeId node) const {
  const PlannedStage& stage = program_.stage(place.at.stage);
  const StageSteps& steps = program_.steps_of(stage.dimension);
  const DimensionedShape& shape = program_.shape();
  const StageSend send = steps.send(stage.kind, shape.coordinate(node, stage.dimension),
                                    place.at.lane, place.at.step, place.send);
  const auto blocks = program_.layout().blocks_at(place.at.stage, node);
  return {PlanLayout::part_of(blocks, send.blocks, place.at.lane, steps.lanes()),
          shape.peer(node, stage.dimension, send.peer)};
}

void FoldedReplay::read(const Operation& operation, std::vector<DataTag>& data) const {
  data.clear();
  const Place place = place_of(operation);
  events_[place.at.stage.chunk].push_back({place, false});
}

void FoldedReplay::write(const Operation& operation, const std::vector<DataTag>&) {
  const Place place = place_of(operation);
  events_[place.at.stage.chunk].push_back({place, true});
}

std::string FoldedReplay::check() const {
  const DimensionPlan& plan = program_.plan();
  const auto& all_pieces = program_.layout().pieces();
  const auto per_chunk = static_cast<std::ptrdiff_t>(program_.layout().pieces_per_chunk());
  // Every chunk starts with the same tags, but for who has them.
  const bool alike = !starts_scattered(plan.op);
  std::vector<NodeMemory> before;
  std::vector<DataTag> promised;
  for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
    if (c == 0 || !alike) {
      const auto first = all_pieces.begin() + c * per_chunk;
      const std::vector<Chunk> pieces(first, first + per_chunk);
      before = memories_before(plan.op, pieces, plan.num_nodes());
      promised = promised_tags(plan.op, pieces, plan.num_nodes());
    }
    std::string wrong = replay(c, before, promised);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

std::string FoldedReplay::replay(std::uint32_t chunk, const std::vector<NodeMemory>& before,
                                 const std::vector<DataTag>& promised) const {
  const std::size_t first_piece = std::size_t{chunk} * program_.layout().pieces_per_chunk();
  const auto local = [&](const PieceRange& pieces) {
    return ChunkId(pieces.first.index() - first_piece);
  };
  std::vector<NodeMemory> memories = before;
  // One operation of all NPUs under way, by its flow and its place among the step's sends.
  struct InFlight {
    std::vector<Counterpart> of_node;
    std::vector<DataTag> tags;  // node by node
  };
  std::map<std::pair<FlowId, std::uint32_t>, InFlight> in_flight;
  for (const Event& event : events_[chunk]) {
    const std::pair key{program_.flow_of(event.place.at), event.place.send};
    if (!event.is_write) {
      InFlight& message = in_flight[key];
      message.of_node.reserve(memories.size());
      for (std::size_t n = 0; n < memories.size(); ++n) {
        const Counterpart mine = counterpart(event.place, NodeId(n));
        if (n == 0) message.tags.reserve(memories.size() * mine.pieces.count);
        const DataTag* tags = memories[n].read_from(local(mine.pieces));
        message.tags.insert(message.tags.end(), tags, tags + mine.pieces.count);
        message.of_node.push_back(mine);
      }
      continue;
    }
    const auto found = in_flight.find(key);
    if (found == in_flight.end()) {
      return fmt::format("data of chunk {} arrived that nobody had sent", chunk);
    }
    const DataTag* tags = found->second.tags.data();
    const bool reduces = program_.stage(event.place.at.stage).kind == StageKind::reduce_scatter;
    for (const Counterpart& mine : found->second.of_node) {
      NodeMemory& receiver = memories[mine.to.index()];
      if (reduces) {
        receiver.reduce(local(mine.pieces), tags, mine.pieces.count);
      } else {
        receiver.copy(local(mine.pieces), tags, mine.pieces.count);
      }
      tags += mine.pieces.count;
    }
    in_flight.erase(found);
  }
  const auto& all_pieces = program_.layout().pieces();
  const auto first = all_pieces.begin() + static_cast<std::ptrdiff_t>(first_piece);
  const std::vector<Chunk> pieces(first, first + program_.layout().pieces_per_chunk());
  for (std::size_t n = 0; n < memories.size(); ++n) {
    const auto wrong = wrong_chunks(NodeId(n), memories[n], program_.plan().op, pieces, promised);
    if (wrong.empty()) continue;
    return fmt::format("wrong data at rank {}: piece {} of chunk {} (and {} more)", n,
                       wrong.front().index(), chunk, wrong.size() - 1);
  }
  return {};
}

}  // namespace espalier
