// Every rank reduces what it completes, in its own order: what goes wrong without coordination
// (Romero et al., section 2.2.1). A collective means the same unit of the same iteration
// everywhere.
#pragma once

#include "sims/workload/coordination/event_driven_hosts.h"

namespace espalier {

class UncoordinatedHosts : public EventDrivenHosts {
 public:
  using EventDrivenHosts::EventDrivenHosts;

  void received(const HostMessage& /*message*/, Cycle /*now*/) override {}
  void explain(WaitList& /*waits*/) const override {}

 private:
  void completed(RankId rank, UnitId unit, Cycle now) override {
    const std::size_t of_iteration = framework(rank).iteration() * job().units.size();
    post(rank, static_cast<CollectiveNumber>(of_iteration + unit.index()), unit,
         now + job().spec.times.overhead);
  }
  [[nodiscard]] UnitId unit_of(CollectiveNumber collective) const override {
    return UnitId(collective % job().units.size());
  }
};

}  // namespace espalier
