// What a switch that adds and copies holds: the blocks that it has not passed on yet.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "ni/engines/dimension_program.h"
#include "ni/node_memory.h"

namespace espalier {

// The first contribution makes the block, others are added to it.
void add_to_block(std::vector<DataTag>& block, const DataTag* tags, std::size_t count);

// A block has a place from the arrival of its first contribution until it is released. Places are
// never short: what arrives is never held up in the network.
class AggregationMemory : public DataMemory {
 public:
  // The block of stage `flow` that begins with `first` has been passed on.
  virtual void release(FlowId flow, ChunkId first) = 0;
};

// Of one switch.
class SwitchMemory : public AggregationMemory {
 public:
  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;
  void release(FlowId flow, ChunkId first) override;

 private:
  using Place = std::pair<FlowId, ChunkId>;
  static Place place_of(const Operation& operation) {
    return {operation.flow, operation.first_chunk};
  }

  std::map<Place, std::vector<DataTag>> blocks_;
};

}  // namespace espalier
