// Coordination in the network interfaces: every NI has a bit for each unit, and one for the unit of
// each of its children in a tree over all ranks. When all of them are set it tells its parent; when
// the root's are, the collective starts everywhere, in the order in which the root found them
// complete. Nobody polls, and no software takes part.
#pragma once

#include <vector>

#include "sims/workload/coordination/event_driven_hosts.h"

namespace espalier {

class NiHosts : public EventDrivenHosts {
 public:
  explicit NiHosts(const TrainingJob& job);

  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override;
  void explain(WaitList& waits) const override;

 private:
  void completed(RankId rank, UnitId unit, Cycle now) override { set_bit(rank, unit, now); }
  [[nodiscard]] UnitId unit_of(CollectiveNumber collective) const override {
    return started_[collective];
  }

  // Its own, or one of a child's.
  void set_bit(RankId rank, UnitId unit, Cycle now);
  // The collective starts here, and below.
  void start_collective(RankId rank, CollectiveNumber collective, Cycle now);
  [[nodiscard]] std::uint32_t children_of(RankId rank) const;
  [[nodiscard]] std::uint32_t& missing(RankId rank, UnitId unit) {
    return missing_[rank.index() * job().units.size() + unit.index()];
  }

  std::vector<std::uint32_t> missing_;  // by rank, unit: bits not yet set
  struct Complete {
    Cycle at = 0;
    UnitId unit;
  };
  std::vector<Complete> at_root_;  // shows later
  std::vector<UnitId> started_;    // by collective
};

}  // namespace espalier
