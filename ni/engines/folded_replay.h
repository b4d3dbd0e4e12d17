// The data of all NPUs where one of them is simulated for all: what it does, all do.
#pragma once

#include <string>
#include <vector>

#include "ni/engines/dimension_program.h"
#include "ni/engines/switch_aggregation_engine.h"
#include "ni/node_memory.h"

namespace espalier {

// An operation of the one NPU stands for one of every NPU: to the peer in the same place of the
// algorithm, with the blocks that this place has there; one of a switch that adds and copies for
// what every NPU receives from its own. When data are read and written is written down during the
// simulation, and done afterwards, chunk by chunk: so one chunk's data are in memory at a time.
class FoldedReplay : public DataMemory {
 public:
  // `program` must outlive it.
  explicit FoldedReplay(const DimensionProgram& program);

  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;
  // The memory of the switches that add and copy.
  [[nodiscard]] AggregationMemory& switches() { return switches_; }

  // Moves the data of all NPUs as the simulation did, and compares them with what the collective
  // promises: the first rank and chunk that are wrong, empty if none are.
  [[nodiscard]] std::string check() const;

 private:
  class ChunkReplay;

  // Which of the messages of its step an operation is, for the NPU that is simulated.
  struct Place {
    StagePlace at;
    // Which of its sends. To and from a switch: how far ahead of the NPU the block's owner is.
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
