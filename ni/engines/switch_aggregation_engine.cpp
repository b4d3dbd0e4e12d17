#include "ni/engines/switch_aggregation_engine.h"

#include <algorithm>

namespace espalier {

void add_to_block(std::vector<DataTag>& block, const DataTag* tags, std::size_t count) {
  if (block.empty()) {
    block.assign(tags, tags + count);
    return;
  }
  for (std::size_t c = 0; c < count; ++c) block[c] += tags[c];
}

void SwitchMemory::read(const Operation& operation, std::vector<DataTag>& data) const {
  data = blocks_.at(place_of(operation));
}

void SwitchMemory::write(const Operation& operation, const std::vector<DataTag>& data) {
  add_to_block(blocks_[place_of(operation)], data.data(), data.size());
}

void SwitchMemory::release(FlowId flow, ChunkId first) { blocks_.erase({flow, first}); }

SwitchAggregationEngine::SwitchAggregationEngine(const DimensionProgram& program, NodeId vertex,
                                                 std::size_t dimension, NodeId member,
                                                 AggregationMemory& memory)
    : program_(program),
      vertex_(vertex),
      dimension_(dimension),
      member_(member),
      memory_(memory),
      size_(program.steps_of(dimension).size()),
      for_coordinate_(program.is_folded() ? 1 : size_) {
  count_sends();
}

void SwitchAggregationEngine::count_sends() {
  const auto& chunks = program_.plan().chunks;
  const std::uint32_t owners = program_.is_folded() ? 1 : size_;
  for (std::uint32_t c = 0; c < chunks.size(); ++c) {
    for (std::uint32_t s = 0; s < chunks[c].stages.size(); ++s) {
      if (chunks[c].stages[s].dimension != dimension_) continue;
      const bool reduces = chunks[c].stages[s].kind == StageKind::reduce_scatter;
      const auto blocks = program_.layout().blocks_at({c, s}, member_);
      for (std::uint32_t b = 0; b < owners; ++b) {
        if (program_.layout().bytes(PlanLayout::part_of(blocks, {b, 1}, 0, 1)) == 0) continue;
        sends_left_ += reduces ? 1 : size_ - 1;
      }
    }
  }
}

bool SwitchAggregationEngine::completed(const Operation& operation, Cycle now) {
  const StageRef stage = program_.place_of(operation.flow).stage;
  const auto blocks = program_.layout().blocks_at(stage, member_);
  const auto first_of = [&](std::uint32_t b) {
    return PlanLayout::part_of(blocks, {b, 1}, 0, 1).first;
  };
  const bool folded = program_.is_folded();
  const std::uint32_t b = program_.layout().block_of(stage, member_, operation.first_chunk);
  if (program_.stage(stage).kind == StageKind::reduce_scatter) {
    // In a folded system, every contribution counts for the one NPU's block.
    const std::uint32_t owner = folded ? 0 : b;
    const Block block{operation.flow, first_of(owner)};
    if (++added_[block] != size_ - 1) return false;
    added_.erase(block);
    copies_left_[block] = 1;
    pass_on(operation, block.second, block.second, owner, now);
    return true;
  }
  copies_left_[{operation.flow, operation.first_chunk}] = size_ - 1;
  for (std::uint32_t i = 1; i < size_; ++i) {
    if (folded) {
      pass_on(operation, operation.first_chunk, first_of(i), 0, now);
    } else {
      pass_on(operation, operation.first_chunk, operation.first_chunk, (b + i) % size_, now);
    }
  }
  return true;
}

void SwitchAggregationEngine::pass_on(const Operation& arrived, ChunkId block, ChunkId first,
                                      std::uint32_t x, Cycle now) {
  const NodeId to = program_.is_folded() ? member_ : program_.shape().peer(member_, dimension_, x);
  const RouteBundle& bundle = program_.routes().from_switch(to, dimension_);
  Operation operation = arrived;
  operation.from = vertex_;
  operation.to = to;
  operation.route = bundle.first;
  operation.stripes = bundle.count;
  operation.first_chunk = first;
  operation.ready = now + 1;
  auto& waiting = for_coordinate_[x];
  const auto after = std::upper_bound(
      waiting.begin(), waiting.end(), operation.rank,
      [](std::uint64_t rank, const Waiting& other) { return rank < other.operation.rank; });
  waiting.insert(after, {operation, block});
  ++waiting_;
}

Cycle SwitchAggregationEngine::evaluate(Cycle now, BackEnd& back_end) {
  for (auto& waiting : for_coordinate_) {
    std::size_t sent = 0;
    while (sent < waiting.size() && back_end.has_room(waiting[sent].operation)) {
      back_end.issue(waiting[sent].operation, now);
      issued(waiting[sent]);
      ++sent;
    }
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(sent));
  }
  return kNever;
}

// The data have left with the operation.
void SwitchAggregationEngine::issued(const Waiting& sent) {
  --waiting_;
  --sends_left_;
  const auto left = copies_left_.find({sent.operation.flow, sent.block});
  if (--left->second != 0) return;
  memory_.release(left->first.first, left->first.second);
  copies_left_.erase(left);
}

}  // namespace espalier
