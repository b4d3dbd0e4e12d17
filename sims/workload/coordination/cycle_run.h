// Horovod's cycles in closed form, for all ranks together.
#pragma once

#include <vector>

#include "sims/workload/coordination/closed_form.h"
#include "sims/workload/coordination/coordination.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

class CycleRun {
 public:
  // The arguments must outlive it.
  CycleRun(const TrainingJob& job, const MessageTime& messages, const ReductionTime& reductions);

  TrainingRecord run(const JobProgress& progress);

 private:
  void enter_cycle();
  void run_operation(ControlOp op);
  // `first`: number of the round's first message in the pattern.
  void run_round(ControlOp op, std::size_t first, const std::vector<PatternMessage>& round);
  // Fast path for messages of one size whose receipt costs only the overhead.
  void run_uniform(ControlOp op);
  // Both are indexed by message of the operation's pattern.
  [[nodiscard]] const std::vector<MessageTime::Path>& paths(ControlOp op);
  [[nodiscard]] const std::vector<Cycle>& flights(ControlOp op, Bytes bytes);
  void execute();
  void reduce(CollectiveNumber collective);

  const TrainingJob& job_;
  const MessageTime& messages_;
  const ReductionTime& reductions_;
  ReadyTimes times_;
  Coordination coordination_;
  std::vector<RankFramework> frameworks_;
  TrainingRecorder recorder_;
  std::uint64_t cycle_ = 0;
  std::vector<Cycle> begin_;       // by rank: start of its current cycle
  std::vector<Cycle> now_;         // by rank: time of its thread
  std::vector<Bytes> gathered_;    // by rank, in the current operation
  std::vector<Cycle> arrival_;     // by message of a round
  std::vector<Bytes> sent_bytes_;  // by message of a round
  struct Flights {
    Bytes bytes = 0;
    std::vector<Cycle> times;
  };
  std::vector<Flights> flights_;                       // by operation, for the most recent size
  std::vector<std::vector<MessageTime::Path>> paths_;  // by operation
  Cycle stream_free_ = 0;                              // end of the previous collective
};

}  // namespace espalier
