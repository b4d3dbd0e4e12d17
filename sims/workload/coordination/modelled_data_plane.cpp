#include "sims/workload/coordination/modelled_data_plane.h"

#include <algorithm>

namespace espalier {

void ModelledDataPlane::start(HostServices& services) {
  services_ = &services;
  hosts_.start(*this);
}

void ModelledDataPlane::post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) {
  if (const auto running = streams_.post(rank, collective, bytes, at)) begin(*running);
}

// Rank 0 is woken for all: what has ended has ended everywhere.
void ModelledDataPlane::begin(const ModelledStreams::Running& running) {
  running_.push_back(running);
  services_->wake(RankId(0), running.end);
}

void ModelledDataPlane::woken(RankId rank, Cycle now) {
  const auto over = std::find_if(running_.begin(), running_.end(),
                                 [&](const ModelledStreams::Running& r) { return r.end == now; });
  if (rank == RankId(0) && over != running_.end()) {
    const ModelledStreams::Running ended = *over;
    running_.erase(over);
    std::vector<ModelledStreams::Running> begun;
    streams_.ended(ended, begun);
    for (const auto& next : begun) begin(next);
    for (std::size_t r = 0; r < ranks_; ++r) {
      hosts_.collective_done(RankId(r), ended.collective, now);
    }
  }
  // Hosts that did not ask for it find nothing to do.
  hosts_.woken(rank, now);
}

void ModelledDataPlane::explain(WaitList& waits) const {
  streams_.explain(hosts_, waits);
  if (waits.empty()) hosts_.explain(waits);
}

}  // namespace espalier
