// The issue engine of Themis' NI: for each dimension a queue of ready chunk stages with an arbiter,
// and the steps of the active stages (sections 4.3 and 4.6).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/stage_arbiter.h"
#include "hw/ids.h"
#include "ni/engines/dimension_arbiter.h"
#include "ni/engines/dimension_program.h"
#include "ni/issue_engine.h"

namespace espalier {

class DimensionQueueEngine : public IssueEngine {
 public:
  struct Spec {
    ArbiterSpec arbiter;
    FlightSpec flight;      // stages that may be active at once in each dimension
    Cycle arbitration = 1;  // from a ready stage and a free place to the stage's first operation
    MakeArbiter arbiter_of_dimension = make_arbiter;
  };

  // `program` must outlive the engine. Stages start in the plan's start_order, if the plan has one.
  DimensionQueueEngine(const DimensionProgram& program, NodeId node, const Spec& spec);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& operation, Cycle now) override;
  bool completed(const Operation& operation, Cycle now) override;
  // False for a Reduce of a stage that this NI has not started: it would be added to data that an
  // earlier stage still sends.
  [[nodiscard]] bool may_add(const Operation& operation) const override;

  [[nodiscard]] std::uint64_t decisions() const override {
    std::uint64_t picks = 0;
    for (const DimensionQueue& queue : queues_) picks += queue.started;
    return picks;
  }
  [[nodiscard]] bool done() const override { return stages_left_ == 0; }
  [[nodiscard]] bool waits_for_ports() const override;
  [[nodiscard]] bool timer_running(Cycle now) const override;
  void show(EngineView& view) const override;
  [[nodiscard]] std::vector<RtlPlace> rtl(const std::string& scope) override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override;

  [[nodiscard]] std::size_t queued(std::size_t dimension) const {
    return queues_[dimension].arbiter->size();
  }
  // With the stage that is being chosen, for which a place is kept.
  [[nodiscard]] std::uint32_t in_flight(std::size_t dimension) const {
    const DimensionQueue& queue = queues_[dimension];
    return queue.gate.in_flight() + (queue.arbiter->is_choosing() ? 1U : 0U);
  }

 private:
  struct DimensionQueue {
    std::unique_ptr<DimensionArbiter> arbiter;
    FlightGate gate;
    std::uint64_t started = 0;      // number of stages
    std::size_t next_in_order = 0;  // index into the plan's start_order
    std::optional<StageRef> started_last = {};
    // Operations to be issued in order as soon as there is room. A full dimension does not block
    // other dimensions.
    std::deque<Operation> blocked = {};
  };
  struct Lane {
    std::uint32_t next_step = 0;         // the next step to send
    std::vector<std::uint32_t> missing;  // by step: receives that have not arrived
  };
  // A stage that has started and not ended.
  struct Active {
    StageRef stage;
    PlanLayout::Blocks blocks;
    std::uint32_t coordinate = 0;
    std::uint64_t rank = 0;        // start order among the dimension's stages
    std::uint32_t sends_left = 0;  // operations that have not left the NI, whether issued or not
    std::uint32_t receives_left = 0;
    std::vector<Lane> lanes;
    std::vector<NodeId> came_from;  // for explain(): senders, for a step that receives from several
    bool advances = false;          // is in advancing_
  };
  struct Early {
    StagePlace place;
    NodeId from;
  };

  static constexpr std::uint32_t kNone = 0xffffffffU;

  void queue_next_stages(Cycle now);
  void arbitrate(std::size_t dimension, Cycle now);
  [[nodiscard]] DimensionArbiter::Inputs inputs_of(std::size_t dimension) const;
  void start(StageRef stage, Cycle now);
  void count_transfers(Active& active) const;
  void send_steps(std::uint32_t slot, Cycle now);
  void send_step(const Active& active, std::uint32_t lane, std::uint32_t step, Cycle now);
  void arrived(Active& active, const StagePlace& place, NodeId from) const;
  // Ends the stage if nothing of it is left. Returns true if it ended.
  bool finish_if_over(std::uint32_t slot, Cycle now);
  void explain_stage(const Active& active, const std::string& who,
                     const std::vector<std::string>& ni_names, WaitList& waits) const;
  [[nodiscard]] Bytes bytes_of(const Active& active, BlockRange blocks, std::uint32_t lane) const;

  const DimensionProgram& program_;
  NodeId node_;
  Spec spec_;
  std::vector<DimensionQueue> queues_;     // by dimension
  std::vector<std::uint32_t> next_stage_;  // by chunk: its next stage
  std::vector<std::uint32_t> slot_of_;     // by chunk: index of its stage in active_, or kNone
  std::vector<Active> active_;             // slots
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> advancing_;     // slots that have a step to send
  std::vector<std::uint32_t> ready_chunks_;  // chunks whose next stage must enter a queue
  // Messages that arrived before this NI started their stage.
  std::vector<Early> early_;
  std::size_t stages_left_ = 0;
};

}  // namespace espalier
