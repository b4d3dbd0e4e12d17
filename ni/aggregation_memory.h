// What a switch that adds and copies holds: the blocks that it has not passed on yet.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ni/dimension_program.h"
#include "ni/node_memory.h"

namespace espalier {

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

// Of the switches of all groups of a dimension, where one NPU is simulated for all: every operation
// stands for one of every NPU (FoldedMemory), and brings the data of them all, by rank.
class FoldedSwitchMemory : public AggregationMemory {
 public:
  explicit FoldedSwitchMemory(const DimensionProgram& program) : program_(program) {}

  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;
  void release(FlowId flow, ChunkId first) override;

 private:
  // The NPUs' own blocks, by rank.
  using OwnBlocks = std::vector<std::vector<DataTag>>;
  // Whose block the operation has for NPU `node`, as the one NPU has `first` for itself.
  [[nodiscard]] NodeId owner(FlowId flow, ChunkId first, NodeId node) const;

  const DimensionProgram& program_;
  std::map<FlowId, OwnBlocks> stages_;
};

}  // namespace espalier
