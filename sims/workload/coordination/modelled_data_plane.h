// Collectives without a network. A collective begins when all ranks have reached it in their
// streams, and takes the time of a formula. Messages still use the machine below.
#pragma once

#include <deque>
#include <vector>

#include "flowctl/wait_list.h"
#include "sims/workload/coordination/closed_form.h"
#include "sims/workload/coordination/host_services.h"

namespace espalier {

class ModelledDataPlane : public HostProgram, public HostServices {
 public:
  // `hosts` must outlive it.
  ModelledDataPlane(HostProgram& hosts, std::size_t ranks, ReductionTime reductions)
      : hosts_(hosts), reductions_(std::move(reductions)), streams_(ranks) {}

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override { hosts_.received(message, now); }
  // The machine below runs no collectives, so this is never called.
  void collective_done(RankId /*rank*/, CollectiveNumber /*collective*/, Cycle /*now*/) override {}
  [[nodiscard]] bool finished() const override { return hosts_.finished(); }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return hosts_.name_of(collective);
  }
  // Lists ranks whose next collectives differ.
  void explain(WaitList& waits) const override;

  void wake(RankId rank, Cycle at) override { services_->wake(rank, at); }
  void send(const HostMessage& message, Cycle at) override { services_->send(message, at); }
  void post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) override;

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
  struct Running {
    CollectiveNumber collective = 0;
    Cycle end = 0;  // the same on all ranks
  };

  // A rank has reached the first collective of its stream, which begins with the last rank.
  void arrive(const Post& post, Cycle at);
  void end(const Running& running);

  HostProgram& hosts_;
  ReductionTime reductions_;
  std::vector<std::deque<Post>> streams_;  // by rank
  std::vector<Meeting> meetings_;          // by collective
  HostServices* services_ = nullptr;
  std::vector<Running> running_;
};

}  // namespace espalier
