// The issue engine of a switch that reduces and multicasts for a group of NPUs (Themis, section
// 4.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ni/engines/dimension_program.h"
#include "ni/issue_engine.h"
#include "ni/node_memory.h"

namespace espalier {

// Adds a contribution to a block. The first contribution creates the block.
void add_to_block(std::vector<DataTag>& block, const DataTag* tags, std::size_t count);

// Blocks that a switch has not passed on yet. A block occupies memory from the arrival of its first
// contribution until it is released. The memory is unlimited, so arrivals never block the network.
class AggregationMemory : public DataMemory {
 public:
  // The block of stage `flow` that begins with `first` has been passed on.
  virtual void release(FlowId flow, ChunkId first) = 0;
};

// The memory of one switch.
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

// A block of a reduce_scatter goes to its owner when the contributions of all other NPUs have been
// added. A block of an all_gather goes to all NPUs but its owner when it has arrived. Each receiver
// has a queue of its own, so a full queue to one NPU does not block the others. In a folded system,
// an operation of the one NPU stands for every NPU's operation: the P - 1 contributions of a stage
// complete the block of each NPU, and an all_gather block arrives from each NPU at once.
class SwitchAggregationEngine : public IssueEngine {
 public:
  // `vertex` is the switch of `member`'s group in `dimension`. `program` and `memory` must outlive
  // the engine.
  SwitchAggregationEngine(const DimensionProgram& program, NodeId vertex, std::size_t dimension,
                          NodeId member, AggregationMemory& memory);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& /*operation*/, Cycle /*now*/) override { return false; }
  bool completed(const Operation& operation, Cycle now) override;
  // Every block has memory of its own.
  [[nodiscard]] bool may_add(const Operation& /*operation*/) const override { return true; }

  [[nodiscard]] bool done() const override { return sends_left_ == 0; }
  [[nodiscard]] bool waits_for_ports() const override { return waiting_ != 0; }
  [[nodiscard]] bool timer_running(Cycle /*now*/) const override { return false; }
  void show(EngineView& /*view*/) const override {}
  // The switch waits only for sends of NPUs, whose engines explain them, or for messages in flight.
  void explain(const std::string& /*who*/, const std::vector<std::string>& /*ni_names*/,
               WaitList& /*waits*/) const override {}

 private:
  using Block = std::pair<FlowId, ChunkId>;  // a stage, and the first chunk of the block
  struct Waiting {
    Operation operation;
    ChunkId block;  // key in copies_left_
  };

  void count_sends();
  // Sends the block that begins at `block` to the NPU at coordinate `x` (folded: the one NPU),
  // where the block begins at `first`. The receiver treats it as this switch treated the last
  // contribution.
  void pass_on(const Operation& arrived, ChunkId block, ChunkId first, std::uint32_t x, Cycle now);
  void issued(const Waiting& sent);

  const DimensionProgram& program_;
  NodeId vertex_;
  std::size_t dimension_;
  NodeId member_;
  AggregationMemory& memory_;
  std::uint32_t size_;
  std::map<Block, std::uint32_t> added_;  // contributions to incomplete blocks
  // Sends left of blocks that are being passed on.
  std::map<Block, std::uint32_t> copies_left_;
  // By rank of the receiver, in order of arrival.
  std::vector<std::vector<Waiting>> for_coordinate_;
  std::size_t waiting_ = 0;  // total over for_coordinate_
  std::uint64_t sends_left_ = 0;
};

}  // namespace espalier
