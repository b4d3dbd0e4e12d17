// Events of a coordinated training job, on the network or in closed form, and its hosts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/graph/host_services.h"

namespace espalier {

struct IterationRecord {
  Cycle begin = kNever;              // on the first rank
  Cycle end = 0;                     // on the last rank: gradients reduced, computing over
  Cycle control = 0;                 // time of rank 0's background thread in the control plane
  std::uint64_t control_cycles = 0;  // cycles that rank 0 began
};

// One all-reduce.
struct CollectiveRecord {
  std::uint32_t iteration = 0;
  std::uint32_t tensors = 0;
  Bytes bytes = 0;
  Cycle first_complete = kNever;  // of its first tensor, on rank 0
  Cycle last_complete = 0;        // of its last tensor, on rank 0
  Cycle first_posted = kNever;    // on the first rank
  Cycle last_posted = 0;          // on the last rank
  Cycle end = 0;                  // on the last rank
};

struct TrainingRecord {
  std::vector<IterationRecord> iterations;
  std::vector<CollectiveRecord> collectives;  // in the global order
  std::uint64_t control_messages = 0;
  Bytes control_bytes = 0;
  Cycle end = 0;
  std::string failure;  // names the hosts that did not agree; empty in a correct run
};

// The frameworks of all ranks, and the record of what they do.
class TrainingRanks {
 public:
  // `job` must outlive it.
  explicit TrainingRanks(const TrainingJob& job);

  [[nodiscard]] RankFramework& operator[](RankId rank) { return frameworks_[rank.index()]; }
  [[nodiscard]] const RankFramework& operator[](RankId rank) const {
    return frameworks_[rank.index()];
  }
  // A cycle of rank 0, which has executed so many units before.
  void control_cycle(std::uint64_t executed, Cycle begin, Cycle end);
  void control_messages(std::uint64_t count, Bytes bytes);
  // The rank posts an all-reduce to its stream in cycle `at`.
  void posted(RankId rank, CollectiveNumber collective, const Response& response, Cycle at);
  // An all-reduce that the rank has posted is done. If it was the iteration's last one, the rank
  // begins the next iteration, if there is one.
  void done(RankId rank, CollectiveNumber collective, Cycle now);
  [[nodiscard]] bool finished() const { return left_ == 0; }
  void fail(const std::string& why) { record_.failure = why; }

  [[nodiscard]] const TrainingRecord& record() const { return record_; }

 private:
  const TrainingJob& job_;
  ReadyTimes times_;
  std::vector<RankFramework> frameworks_;
  std::size_t left_;  // ranks that have not finished
  TrainingRecord record_;
};

// The hosts of a job in its mode of coordination.
class JobHosts : public HostProgram {
 public:
  // `job` must outlive it.
  explicit JobHosts(const TrainingJob& job) : job_(job), ranks_(job) {}

  [[nodiscard]] bool finished() const override { return ranks_.finished(); }
  // Complete when the job has finished.
  [[nodiscard]] const TrainingRecord& record() const { return ranks_.record(); }

 protected:
  // The rank posts an all-reduce to its stream in cycle `at`.
  void post(RankId rank, CollectiveNumber collective, const Response& what, Cycle at) {
    ranks_.posted(rank, collective, what, at);
    services_->post(rank, collective, {CollectiveOp::all_reduce, what.bytes}, at);
  }

  const TrainingJob& job_;
  TrainingRanks ranks_;
  HostServices* services_ = nullptr;  // set by start()
};

[[nodiscard]] constexpr bool has_cycles(CoordinationMode mode) {
  return mode != CoordinationMode::none && mode != CoordinationMode::in_ni;
}

// `job` must outlive the hosts.
[[nodiscard]] std::unique_ptr<JobHosts> make_hosts(const TrainingJob& job);

// For make_hosts: hosts that run Horovod's cycles. Precondition: has_cycles(job.spec.mode).
[[nodiscard]] std::unique_ptr<JobHosts> make_coordinated_hosts(const TrainingJob& job);

}  // namespace espalier
