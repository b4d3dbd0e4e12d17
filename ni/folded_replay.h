// The memories of all NPUs where one of them is simulated for all: what it does, all do.
#pragma once

#include <string>
#include <vector>

#include "ni/dimension_program.h"
#include "ni/node_memory.h"

namespace espalier {

// An operation of the one NPU stands for one of every NPU: to the peer in the same place of the
// algorithm, with the blocks that this place has there. When data are read and written is written
// down during the simulation, and done afterwards, chunk by chunk: so one chunk's data are in
// memory at a time. For plans without in_network stages, whose switches have data too
// (ni/folded_memory.h).
class FoldedReplay : public DataMemory {
 public:
  // `program` must outlive it.
  explicit FoldedReplay(const DimensionProgram& program)
      : program_(program), events_(program.plan().chunks.size()) {}

  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;

  // Moves the data of all NPUs as the simulation did, and compares them with what the collective
  // promises: the first rank and chunk that are wrong, empty if none are.
  [[nodiscard]] std::string check() const;

 private:
  // Which of the sends of its step an operation is, at the NPU that is simulated.
  struct Place {
    StagePlace at;
    std::uint32_t send = 0;
  };
  struct Event {
    Place place;
    bool is_write = false;
  };
  // The same at NPU `node`: where its data lie, and who gets them.
  struct Counterpart {
    PieceRange pieces;
    NodeId to;
  };
  [[nodiscard]] Place place_of(const Operation& operation) const;
  [[nodiscard]] Counterpart counterpart(const Place& place, NodeId node) const;
  [[nodiscard]] std::string replay(std::uint32_t chunk, const std::vector<NodeMemory>& before,
                                   const std::vector<DataTag>& promised) const;

  const DimensionProgram& program_;
  mutable std::vector<std::vector<Event>> events_;  // by chunk, in the order of the simulation
};

}  // namespace espalier
