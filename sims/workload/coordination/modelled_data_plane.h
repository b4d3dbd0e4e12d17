// Hosts whose messages go over a machine, and whose collectives take as long as they are said to:
// between the two, it keeps the streams.
#pragma once

#include <vector>

#include "sims/workload/coordination/modelled_streams.h"

namespace espalier {

class ModelledDataPlane : public HostProgram, public HostServices {
 public:
  // Both must outlive it.
  ModelledDataPlane(HostProgram& hosts, std::size_t ranks, const ReductionTime& reductions)
      : hosts_(hosts), ranks_(ranks), streams_(ranks, reductions) {}

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override { hosts_.received(message, now); }
  // The machine has none.
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
