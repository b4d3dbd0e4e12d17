// The memories of all NPUs where one of them is simulated for all: what it does, all do.
#pragma once

#include <vector>

#include "ni/dimension_program.h"
#include "ni/node_memory.h"

namespace espalier {

// An operation of the one NPU stands for one of every NPU: to the peer in the same place of the
// algorithm, with the blocks that this place has there. One that comes from the one switch stands
// for what every NPU receives from its own.
class FoldedMemory : public DataMemory {
 public:
  // Both must outlive it; `memories` by rank.
  FoldedMemory(const DimensionProgram& program, std::vector<NodeMemory>& memories)
      : program_(program), memories_(memories) {}

  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;

 private:
  // Which of the sends of its step the operation is, at the NPU that is simulated.
  struct Place {
    StagePlace at;
    PlannedStage stage;
    std::uint32_t send = 0;
    // in_network: how far ahead of the NPU the block's owner is, and whether the switch sends it.
    std::uint32_t ahead = 0;
    bool from_switch = false;
  };
  [[nodiscard]] Place place_of(const Operation& operation) const;
  // The same at NPU `node`: where its data lie, and who gets them.
  struct Counterpart {
    PieceRange pieces;
    NodeId to;
  };
  [[nodiscard]] Counterpart counterpart(const Place& place, NodeId node) const;

  const DimensionProgram& program_;
  std::vector<NodeMemory>& memories_;
};

}  // namespace espalier
