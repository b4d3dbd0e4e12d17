#include "sims/workload/coordination/modelled_data_plane.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

void ModelledDataPlane::start(HostServices& services) {
  services_ = &services;
  hosts_.start(*this);
}

void ModelledDataPlane::post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) {
  auto& stream = streams_[rank.index()];
  stream.push_back({collective, bytes, at});
  if (stream.size() == 1) arrive(stream.front(), at);
}

void ModelledDataPlane::arrive(const Post& post, Cycle at) {
  if (post.collective >= meetings_.size()) meetings_.resize(post.collective + 1);
  Meeting& meeting = meetings_[post.collective];
  meeting.latest = std::max(meeting.latest, at);
  if (++meeting.arrived != streams_.size()) return;
  running_.push_back({post.collective, meeting.latest + reductions_(post.bytes)});
  // A collective ends everywhere in the same cycle, so waking rank 0 is enough.
  services_->wake(RankId(0), running_.back().end);
}

void ModelledDataPlane::woken(RankId rank, Cycle now) {
  const auto over = std::find_if(running_.begin(), running_.end(),
                                 [&](const Running& r) { return r.end == now; });
  if (rank == RankId(0) && over != running_.end()) {
    const Running ended = *over;
    running_.erase(over);
    end(ended);
  }
  // A host that did not ask to be woken finds no work.
  hosts_.woken(rank, now);
}

void ModelledDataPlane::end(const Running& running) {
  for (auto& stream : streams_) {
    stream.pop_front();
    if (!stream.empty()) arrive(stream.front(), std::max(stream.front().at, running.end));
  }
  for (std::size_t r = 0; r < streams_.size(); ++r) {
    hosts_.collective_done(RankId(r), running.collective, running.end);
  }
}

void ModelledDataPlane::explain(WaitList& waits) const {
  for (std::size_t r = 0; r < streams_.size(); ++r) {
    if (streams_[r].empty()) continue;
    const CollectiveNumber mine = streams_[r].front().collective;
    for (std::size_t other = 0; other < streams_.size(); ++other) {
      const bool waits_here = streams_[other].empty() || streams_[other].front().collective != mine;
      if (!waits_here) continue;
      const std::string at = streams_[other].empty()
                                 ? "has posted nothing"
                                 : "runs " + hosts_.name_of(streams_[other].front().collective);
      waits.push_back(
          {host_name(RankId(r)), host_name(RankId(other)),
           fmt::format("{}, while {} {}", hosts_.name_of(mine), host_name(RankId(other)), at)});
      break;
    }
  }
  if (waits.empty()) hosts_.explain(waits);
}

}  // namespace espalier
