#include "ni/aggregation_memory.h"

namespace espalier {

namespace {

void take(std::vector<DataTag>& block, TransferKind kind, const DataTag* tags, std::size_t count) {
  if (kind == TransferKind::copy || block.empty()) {
    block.assign(tags, tags + count);
    return;
  }
  for (std::size_t c = 0; c < count; ++c) block[c] += tags[c];
}

}  // namespace

void SwitchMemory::read(const Operation& operation, std::vector<DataTag>& data) const {
  data = blocks_.at(place_of(operation));
}

void SwitchMemory::write(const Operation& operation, const std::vector<DataTag>& data) {
  take(blocks_[place_of(operation)], operation.on_arrival, data.data(), data.size());
}

void SwitchMemory::release(FlowId flow, ChunkId first) { blocks_.erase({flow, first}); }

NodeId FoldedSwitchMemory::owner(FlowId flow, ChunkId first, NodeId node) const {
  const StageRef stage = program_.place_of(flow).stage;
  const std::uint32_t d = program_.stage(stage).dimension;
  const std::uint32_t ahead = program_.layout().block_of(stage, NodeId(0), first);
  const std::uint32_t self = program_.shape().coordinate(node, d);
  return program_.shape().peer(node, d, (self + ahead) % program_.steps_of(d).size());
}

void FoldedSwitchMemory::read(const Operation& operation, std::vector<DataTag>& data) const {
  const OwnBlocks& blocks = stages_.at(operation.flow);
  data.clear();
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const auto& block = blocks[owner(operation.flow, operation.first_chunk, NodeId(n)).index()];
    data.insert(data.end(), block.begin(), block.end());
  }
}

void FoldedSwitchMemory::write(const Operation& operation, const std::vector<DataTag>& data) {
  OwnBlocks& blocks = stages_[operation.flow];
  blocks.resize(program_.plan().num_nodes());
  const std::size_t count = operation.num_chunks;
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    auto& block = blocks[owner(operation.flow, operation.first_chunk, NodeId(n)).index()];
    take(block, operation.on_arrival, data.data() + n * count, count);
  }
}

void FoldedSwitchMemory::release(FlowId flow, ChunkId /*first*/) { stages_.erase(flow); }

}  // namespace espalier
