// Collectives without a network. A collective begins when all ranks have reached it in their
// streams, and takes the time of a formula. Messages still use the machine below.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "flowctl/wait_list.h"
#include "sims/workload/coordination/closed_form.h"
#include "sims/workload/coordination/host_services.h"

namespace espalier {

// The streams of collectives of all ranks.
class ModelledStreams {
 public:
  // `reductions` must outlive it.
  ModelledStreams(std::size_t ranks, const ReductionTime& reductions)
      : reductions_(reductions), streams_(ranks) {}

  struct Running {
    CollectiveNumber collective = 0;
    Cycle end = 0;  // the same on all ranks
  };
  // See HostServices::post. Returns the collective if this rank was the last to reach it.
  [[nodiscard]] std::optional<Running> post(RankId rank, CollectiveNumber collective, Bytes bytes,
                                            Cycle at);
  // The collective has ended on all ranks. Appends the collectives that begin now to `begun`.
  void ended(const Running& running, std::vector<Running>& begun);

  // Lists ranks whose next collectives differ.
  void explain(const HostProgram& hosts, WaitList& waits) const;

 private:
  struct Post {
    CollectiveNumber collective = 0;
    Bytes bytes = 0;
    Cycle at = 0;
  };
  struct Meeting {
    std::size_t arrived = 0;
    Cycle latest = 0;
  };

  // A rank has reached the first collective of its stream.
  [[nodiscard]] std::optional<Running> arrive(const Post& post, Cycle at);

  const ReductionTime& reductions_;
  std::vector<std::deque<Post>> streams_;
  std::vector<Meeting> meetings_;  // by collective
};

class ModelledDataPlane : public HostProgram, public HostServices {
 public:
  // `hosts` and `reductions` must outlive it.
  ModelledDataPlane(HostProgram& hosts, std::size_t ranks, const ReductionTime& reductions)
      : hosts_(hosts), ranks_(ranks), streams_(ranks, reductions) {}

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override { hosts_.received(message, now); }
  // The machine below runs no collectives, so this is never called.
  void collective_done(RankId /*rank*/, CollectiveNumber /*collective*/, Cycle /*now*/) override {}
  [[nodiscard]] bool finished() const override { return hosts_.finished(); }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return hosts_.name_of(collective);
  }
  void explain(WaitList& waits) const override;

  void wake(RankId rank, Cycle at) override { services_->wake(rank, at); }
  void send(const HostMessage& message, Cycle at) override { services_->send(message, at); }
  void post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) override;

 private:
  void begin(const ModelledStreams::Running& running);

  HostProgram& hosts_;
  std::size_t ranks_;
  ModelledStreams streams_;
  HostServices* services_ = nullptr;
  std::vector<ModelledStreams::Running> running_;
};

}  // namespace espalier
