#include "ni/engines/aggregation_memory.h"

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

}  // namespace espalier
