// The data of all NPUs in a folded simulation, in which one NPU is simulated and all NPUs act
// alike.
#pragma once

#include <string>
#include <vector>

#include "ni/engines/dimension_program.h"
#include "ni/engines/switch_aggregation_engine.h"
#include "ni/node_memory.h"

namespace espalier {

// An operation of the simulated NPU stands for one operation of every NPU. Each NPU's operation
// goes to the peer at the same position in the algorithm, and carries that position's blocks. An
// operation of a switch that reduces stands for one operation of every such switch. The simulation
// records when data are read and written. Afterwards the data are moved chunk by chunk, so only one
// chunk's data are in memory at a time.
class FoldedReplay : public DataMemory {
 public:
  // `program` must outlive this object.
  explicit FoldedReplay(const DimensionProgram& program);

  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;
  // The memory of the switches that reduce and multicast.
  [[nodiscard]] AggregationMemory& switches() { return switches_; }

  // Moves the data of all NPUs as the simulation did, and compares them with the collective's
  // result. Returns the first wrong rank and chunk; empty if none is wrong.
  [[nodiscard]] std::string check() const;

 private:
  class ChunkReplay;

  // Tells which message of a step an operation is, for the simulated NPU.
  struct Place {
    StagePlace at;
    // Index among the NPU's sends in this step. For messages to and from a switch: distance in
    // coordinates from the NPU to the owner of the block.
    std::uint32_t send = 0;
    bool from_switch = false;
  };
  enum class Act : std::uint8_t {
    npu_reads,
    npu_writes,
    switch_reads,
    switch_writes,
    switch_releases
  };
  struct Event {
    Place place;
    Act act;
  };
  class Switches : public AggregationMemory {
   public:
    explicit Switches(FoldedReplay& replay) : replay_(replay) {}
    void read(const Operation& operation, std::vector<DataTag>& data) const override;
    void write(const Operation& operation, const std::vector<DataTag>& data) override;
    void release(FlowId flow, ChunkId first) override;

   private:
    FoldedReplay& replay_;
  };

  [[nodiscard]] Place place_of(const Operation& operation) const;
  void log(const Place& place, Act act) const {
    events_[place.at.stage.chunk].push_back({place, act});
  }

  const DimensionProgram& program_;
  Switches switches_;
  mutable std::vector<std::vector<Event>> events_;  // by chunk, in the order of the simulation
};

}  // namespace espalier
