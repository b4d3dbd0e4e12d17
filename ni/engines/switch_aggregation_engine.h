// The issue engine of a switch that adds and copies for a group of NPUs (Themis, section 4.5).
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

// Adds a contribution to a block; the first one makes the block.
void add_to_block(std::vector<DataTag>& block, const DataTag* tags, std::size_t count);

// The blocks that a switch has not passed on yet. A block has a place from the arrival of its first
// contribution until it is released. There are always places, so arrivals never block the network.
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

// A block of a reduce_scatter goes to its owner when all other NPUs' contributions have been added;
// a block of an all_gather to all but its owner when it has come. What waits for an NPU waits apart
// from what waits for others, so that a full queue to one holds up nobody else.
// Folded, the one NPU's operation is that of every NPU: its P - 1 contributions of a stage complete
// a block at everyone, and its one block of an all_gather comes with everyone else's.
class SwitchAggregationEngine : public IssueEngine {
 public:
  // The switch of `member`'s group in `dimension`, vertex `vertex`. `program` and `memory` must
  // outlive it.
  SwitchAggregationEngine(const DimensionProgram& program, NodeId vertex, std::size_t dimension,
                          NodeId member, AggregationMemory& memory);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& /*operation*/, Cycle /*now*/) override { return false; }
  bool completed(const Operation& operation, Cycle now) override;
  // Every block has a place of its own.
  [[nodiscard]] bool may_add(const Operation& /*operation*/) const override { return true; }

  [[nodiscard]] bool done() const override { return sends_left_ == 0; }
  [[nodiscard]] bool waits_for_ports() const override { return waiting_ != 0; }
  [[nodiscard]] bool timer_running(Cycle /*now*/) const override { return false; }
  void show(EngineView& /*view*/) const override {}
  // What it lacks are sends of NPUs, which these explain, or is on its way.
  void explain(const std::string& /*who*/, const std::vector<std::string>& /*ni_names*/,
               WaitList& /*waits*/) const override {}

 private:
  using Block = std::pair<FlowId, ChunkId>;  // a stage, and where the block begins
  struct Waiting {
    Operation operation;
    ChunkId block;  // in copies_left_
  };

  void count_sends();
  // The block that `block` is the beginning of, to the NPU at coordinate `x` (folded: to the one),
  // where it begins with `first`. It does there what the last contribution did here.
  void pass_on(const Operation& arrived, ChunkId block, ChunkId first, std::uint32_t x, Cycle now);
  void issued(const Waiting& sent);

  const DimensionProgram& program_;
  NodeId vertex_;
  std::size_t dimension_;
  NodeId member_;
  AggregationMemory& memory_;
  std::uint32_t size_;
  std::map<Block, std::uint32_t> added_;              // contributions, of incomplete blocks
  std::map<Block, std::uint32_t> copies_left_;        // of blocks that are being passed on
  std::vector<std::vector<Waiting>> for_coordinate_;  // by rank, then in order of arrival
  std::size_t waiting_ = 0;                           // in all of them
  std::uint64_t sends_left_ = 0;
};

}  // namespace espalier
