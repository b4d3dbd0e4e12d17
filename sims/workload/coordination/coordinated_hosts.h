// The hosts of a training job, event by event: on each rank a framework that computes and a
// background thread that runs Horovod's cycles, blocking in each operation of the control plane.
#pragma once

#include <memory>
#include <vector>

#include "sims/workload/coordination/coordination.h"
#include "sims/workload/coordination/job_hosts.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

// Precondition: the job's mode has cycles.
class CoordinatedHosts : public JobHosts {
 public:
  // `job` must outlive it.
  explicit CoordinatedHosts(const TrainingJob& job);

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override;
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override;
  [[nodiscard]] bool finished() const override { return left_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override;
  void explain(WaitList& waits) const override;

  [[nodiscard]] const TrainingRecord& record() const override { return recorder_.record(); }

 private:
  struct Arrival {
    RankId from;
    std::uint64_t tag = 0;
    Bytes bytes = 0;
    Cycle at = 0;
  };
  enum class Stage : std::uint8_t { asleep, in_cycle, executing, stopped };
  struct Host {
    explicit Host(RankFramework f) : framework(std::move(f)) {}
    RankFramework framework;
    Stage stage = Stage::asleep;
    std::uint64_t cycle = 0;  // its present one, or the next
    Cycle cycle_begin = 1;
    Cycle now = 1;  // where its thread is in time, which may be ahead of the clock
    std::size_t op_index = 0;
    ControlOp op = ControlOp::intersect;
    std::size_t step = 0;  // of the operation's pattern
    Bytes gathered = 0;
    std::vector<Arrival> inbox;
    CollectiveNumber next = 0;  // to post, up to
    CollectiveNumber end = 0;
  };

  [[nodiscard]] Host& host(RankId rank) { return hosts_[rank.index()]; }
  void begin_cycle(RankId rank, Cycle now);
  // Goes on with the thread until it has to wait for a message or for time to pass.
  void run(RankId rank);
  // False where a message is missing.
  bool run_steps(RankId rank);
  bool take_message(RankId rank, RankId from);
  // False after the cycle's last operation.
  bool begin_op(RankId rank);
  void end_cycle(RankId rank);
  void post_next(RankId rank);
  void sleep(RankId rank);
  // Of messages of an operation of a cycle.
  [[nodiscard]] static std::uint64_t tag_of(const Host& host) {
    return host.cycle * 8 + host.op_index;
  }
  [[nodiscard]] const std::vector<PatternStep>& steps(const Host& host, RankId rank) const {
    return steps_[static_cast<std::size_t>(host.op)][rank.index()];
  }

  const TrainingJob& job_;
  ReadyTimes times_;
  Coordination coordination_;
  std::vector<std::vector<std::vector<PatternStep>>> steps_;  // by operation, rank
  std::vector<Host> hosts_;
  HostServices* services_ = nullptr;
  std::size_t left_;  // ranks whose framework has not finished
  TrainingRecorder recorder_;
};

}  // namespace espalier
