// Hosts without cycles: what a framework completes is acted on at once.
#pragma once

#include <vector>

#include "sims/workload/coordination/job_hosts.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

class EventDrivenHosts : public JobHosts {
 public:
  explicit EventDrivenHosts(const TrainingJob& job);

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override;
  [[nodiscard]] bool finished() const override { return left_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override;
  [[nodiscard]] const TrainingRecord& record() const override { return recorder_.record(); }

 protected:
  // A unit is complete on a rank.
  virtual void completed(RankId rank, UnitId unit, Cycle now) = 0;
  // The unit that a collective reduces, in its iteration.
  [[nodiscard]] virtual UnitId unit_of(CollectiveNumber collective) const = 0;

  void post(RankId rank, CollectiveNumber collective, UnitId unit, Cycle at);

  [[nodiscard]] const TrainingJob& job() const { return job_; }
  [[nodiscard]] HostServices& services() { return *services_; }
  [[nodiscard]] const RankFramework& framework(RankId rank) const {
    return frameworks_[rank.index()];
  }
  [[nodiscard]] TrainingRecorder& recorder() { return recorder_; }

 private:
  void wake_when_complete(RankId rank);

  const TrainingJob& job_;
  ReadyTimes times_;
  std::vector<RankFramework> frameworks_;
  std::vector<Cycle> woken_at_;  // by rank: for the unit that is complete next
  HostServices* services_ = nullptr;
  std::size_t left_;  // ranks whose framework has not finished
  TrainingRecorder recorder_;
};

}  // namespace espalier
