// Writes down what happens in a coordinated training job.
#pragma once

#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/host_services.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/coordination/training_record.h"

namespace espalier {

class TrainingRecorder {
 public:
  // `job` must outlive it.
  explicit TrainingRecorder(const TrainingJob& job);

  // A cycle of rank 0 while it waited for the tensors of `iteration`.
  void control_cycle(std::uint32_t iteration, Cycle begin, Cycle end);
  void control_messages(std::uint64_t count, Bytes bytes);
  // `framework` is that of the rank.
  void posted(RankId rank, CollectiveNumber collective, const Response& response,
              const RankFramework& framework, Cycle at);
  [[nodiscard]] const CollectiveRecord& collective(CollectiveNumber collective) const {
    return record_.collectives[collective];
  }
  void done(CollectiveNumber collective, Cycle now);
  // A rank has ended `iteration`, and begins the next one where there is one.
  void iteration_over(std::uint32_t iteration, Cycle end);
  void fail(const std::string& why) { record_.failure = why; }

  [[nodiscard]] const TrainingRecord& record() const { return record_; }

 private:
  const TrainingJob& job_;
  TrainingRecord record_;
};

}  // namespace espalier
