#include "ni/engines/folded_replay.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace espalier {

// The data of one chunk at all NPUs and switches.
class FoldedReplay::ChunkReplay {
 public:
  ChunkReplay(const DimensionProgram& program, std::uint32_t chunk, std::vector<NodeMemory> before)
      : program_(program),
        chunk_(chunk),
        first_piece_(std::size_t{chunk} * program.layout().pieces_per_chunk()),
        memories_(std::move(before)) {}

  [[nodiscard]] const std::vector<NodeMemory>& memories() const { return memories_; }

  // Returns an error text, or an empty string if the event is valid.
  [[nodiscard]] std::string apply(const Event& event) {
    switch (event.act) {
      case Act::npu_reads:
        read_npus(event.place);
        return {};
      case Act::switch_reads:
        return read_switches(event.place);
      case Act::switch_releases:
        at_switches_.erase(program_.flow_of(event.place.at));
        return {};
      case Act::npu_writes:
      case Act::switch_writes:
        break;
    }
    const auto message = in_flight_.find(name_of(event.place));
    if (message == in_flight_.end()) {
      return fmt::format("data of chunk {} arrived before any NPU or switch had sent them", chunk_);
    }
    if (event.act == Act::npu_writes) {
      write_npus(event.place, message->second);
    } else {
      write_switches(event.place, message->second);
    }
    in_flight_.erase(message);
    return {};
  }

 private:
  // The copy of a message in flight at another NPU: its data and its receiver.
  struct Counterpart {
    PieceRange pieces;
    NodeId to;
  };
  struct InFlight {
    std::vector<Counterpart> of_node;
    std::vector<DataTag> tags;
  };
  using Name = std::tuple<FlowId, std::uint32_t, bool>;
  [[nodiscard]] Name name_of(const Place& place) const {
    return {program_.flow_of(place.at), place.send, place.from_switch};
  }

  [[nodiscard]] Counterpart counterpart(const Place& place, NodeId node) const {
    const PlannedStage& stage = program_.stage(place.at.stage);
    const StageSteps& steps = program_.steps_of(stage.dimension);
    const DimensionedShape& shape = program_.shape();
    const auto blocks = program_.layout().blocks_at(place.at.stage, node);
    if (program_.adds_in_switch(stage.dimension)) {
      const NodeId owner = owner_of(place, node);
      return {PlanLayout::part_of(blocks, {shape.coordinate(owner, stage.dimension), 1}, 0, 1),
              place.from_switch ? node : owner};
    }
    const StageSend send = steps.send(stage.kind, shape.coordinate(node, stage.dimension),
                                      place.at.lane, place.at.step, place.send);
    return {PlanLayout::part_of(blocks, send.blocks, place.at.lane, steps.lanes()),
            shape.peer(node, stage.dimension, send.peer)};
  }
  // The NPU whose block `node` sends to its switch or receives from it.
  [[nodiscard]] NodeId owner_of(const Place& place, NodeId node) const {
    const std::size_t d = program_.stage(place.at.stage).dimension;
    const DimensionedShape& shape = program_.shape();
    return shape.peer(node, d,
                      (shape.coordinate(node, d) + place.send) % program_.steps_of(d).size());
  }
  [[nodiscard]] ChunkId local(const PieceRange& pieces) const {
    return ChunkId(pieces.first.index() - first_piece_);
  }

  void read_npus(const Place& place) {
    InFlight& message = in_flight_[name_of(place)];
    message.of_node.reserve(memories_.size());
    for (std::size_t n = 0; n < memories_.size(); ++n) {
      const Counterpart mine = counterpart(place, NodeId(n));
      if (n == 0) message.tags.reserve(memories_.size() * mine.pieces.count);
      const DataTag* tags = memories_[n].read_from(local(mine.pieces));
      message.tags.insert(message.tags.end(), tags, tags + mine.pieces.count);
      message.of_node.push_back(mine);
    }
  }

  [[nodiscard]] std::string read_switches(const Place& place) {
    auto& blocks = at_switches_[program_.flow_of(place.at)];
    blocks.resize(memories_.size());
    InFlight& message = in_flight_[name_of(place)];
    for (std::size_t n = 0; n < memories_.size(); ++n) {
      const Counterpart mine = counterpart(place, NodeId(n));
      const auto& block = blocks[owner_of(place, NodeId(n)).index()];
      if (block.size() != mine.pieces.count) {
        return fmt::format("a switch sent data of chunk {} before it had received them", chunk_);
      }
      message.tags.insert(message.tags.end(), block.begin(), block.end());
      message.of_node.push_back(mine);
    }
    return {};
  }

  void write_npus(const Place& place, const InFlight& message) {
    const bool reduces = program_.stage(place.at.stage).kind == StageKind::reduce_scatter;
    const DataTag* tags = message.tags.data();
    for (const Counterpart& mine : message.of_node) {
      NodeMemory& receiver = memories_[mine.to.index()];
      if (reduces) {
        receiver.reduce(local(mine.pieces), tags, mine.pieces.count);
      } else {
        receiver.copy(local(mine.pieces), tags, mine.pieces.count);
      }
      tags += mine.pieces.count;
    }
  }

  void write_switches(const Place& place, const InFlight& message) {
    auto& blocks = at_switches_[program_.flow_of(place.at)];
    blocks.resize(memories_.size());
    const DataTag* tags = message.tags.data();
    for (const Counterpart& mine : message.of_node) {
      add_to_block(blocks[mine.to.index()], tags, mine.pieces.count);
      tags += mine.pieces.count;
    }
  }

  const DimensionProgram& program_;
  std::uint32_t chunk_;
  std::size_t first_piece_;
  std::vector<NodeMemory> memories_;  // by rank
  std::map<Name, InFlight> in_flight_;
  // By stage: the block of each NPU, by rank, in the switch of its group.
  std::map<FlowId, std::vector<std::vector<DataTag>>> at_switches_;
};

FoldedReplay::FoldedReplay(const DimensionProgram& program)
    : program_(program), switches_(*this), events_(program.plan().chunks.size()) {}

FoldedReplay::Place FoldedReplay::place_of(const Operation& operation) const {
  Place place;
  place.at = program_.place_of(operation.flow);
  const PlannedStage& stage = program_.stage(place.at.stage);
  if (program_.adds_in_switch(stage.dimension)) {
    place.send = program_.layout().block_of(place.at.stage, NodeId(0), operation.first_chunk);
    place.from_switch = operation.to == NodeId(0);
    return place;
  }
  const StageSteps& steps = program_.steps_of(stage.dimension);
  const DimensionedShape& shape = program_.shape();
  const std::uint32_t self = shape.coordinate(operation.from, stage.dimension);
  const std::uint32_t peer = shape.coordinate(operation.to, stage.dimension);
  for (; place.send < steps.num_sends(stage.kind, place.at.step); ++place.send) {
    const StageSend send = steps.send(stage.kind, self, place.at.lane, place.at.step, place.send);
    if (send.peer == peer) return place;
  }
  throw std::logic_error("an operation does not belong to its stage");
}

void FoldedReplay::read(const Operation& operation, std::vector<DataTag>& data) const {
  data.clear();
  log(place_of(operation), Act::npu_reads);
}

void FoldedReplay::write(const Operation& operation, const std::vector<DataTag>&) {
  log(place_of(operation), Act::npu_writes);
}

void FoldedReplay::Switches::read(const Operation& operation, std::vector<DataTag>& data) const {
  data.clear();
  replay_.log(replay_.place_of(operation), Act::switch_reads);
}

void FoldedReplay::Switches::write(const Operation& operation, const std::vector<DataTag>&) {
  replay_.log(replay_.place_of(operation), Act::switch_writes);
}

void FoldedReplay::Switches::release(FlowId flow, ChunkId /*first*/) {
  replay_.log({replay_.program_.place_of(flow)}, Act::switch_releases);
}

std::string FoldedReplay::check() const {
  const DimensionPlan& plan = program_.plan();
  const std::size_t per_chunk = program_.layout().pieces_per_chunk();
  // Every chunk starts with the same tags; only the owners differ.
  const bool alike = !starts_scattered(plan.op);
  std::vector<Chunk> pieces;
  std::vector<NodeMemory> before;
  std::vector<DataTag> promised;
  for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
    const auto first =
        program_.layout().pieces().begin() + static_cast<std::ptrdiff_t>(c * per_chunk);
    pieces.assign(first, first + static_cast<std::ptrdiff_t>(per_chunk));
    if (c == 0 || !alike) {
      before.clear();
      for (std::size_t n = 0; n < plan.num_nodes(); ++n) {
        before.emplace_back(NodeId(n), plan.op, pieces);
      }
      promised = promised_tags(plan.op, pieces, plan.num_nodes());
    }
    ChunkReplay replay(program_, c, before);
    for (const Event& event : events_[c]) {
      std::string wrong = replay.apply(event);
      if (!wrong.empty()) return wrong;
    }
    for (std::size_t n = 0; n < before.size(); ++n) {
      const auto wrong = wrong_chunks(NodeId(n), replay.memories()[n], plan.op, pieces, promised);
      if (wrong.empty()) continue;
      return fmt::format("wrong data at rank {}: piece {} of chunk {} (and {} more)", n,
                         wrong.front().index(), c, wrong.size() - 1);
    }
  }
  return {};
}

}  // namespace espalier
