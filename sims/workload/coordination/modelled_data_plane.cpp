#include "sims/workload/coordination/modelled_data_plane.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

std::optional<ModelledStreams::Running> ModelledStreams::post(RankId rank,
                                                              CollectiveNumber collective,
                                                              Bytes bytes, Cycle at) {
  auto& stream = streams_[rank.index()];
  stream.push_back({collective, bytes, at});
  if (stream.size() != 1) return std::nullopt;
  return arrive(stream.front(), at);
}

std::optional<ModelledStreams::Running> ModelledStreams::arrive(const Post& post, Cycle at) {
  if (post.collective >= meetings_.size()) meetings_.resize(post.collective + 1);
  Meeting& meeting = meetings_[post.collective];
  meeting.latest = std::max(meeting.latest, at);
  if (++meeting.arrived != streams_.size()) return std::nullopt;
  return Running{post.collective, meeting.latest + reductions_.all_reduce(post.bytes)};
}

void ModelledStreams::ended(const Running& running, std::vector<Running>& begun) {
  for (auto& stream : streams_) {
    stream.pop_front();
    if (stream.empty()) continue;
    const auto next = arrive(stream.front(), std::max(stream.front().at, running.end));
    if (next) begun.push_back(*next);
  }
}

void ModelledStreams::explain(const HostProgram& hosts, WaitList& waits) const {
  for (std::size_t r = 0; r < streams_.size(); ++r) {
    if (streams_[r].empty()) continue;
    const CollectiveNumber mine = streams_[r].front().collective;
    for (std::size_t other = 0; other < streams_.size(); ++other) {
      const bool waits_here = streams_[other].empty() || streams_[other].front().collective != mine;
      if (!waits_here) continue;
      const std::string at = streams_[other].empty()
                                 ? "has posted nothing"
                                 : "runs " + hosts.name_of(streams_[other].front().collective);
      waits.push_back(
          {host_name(RankId(r)), host_name(RankId(other)),
           fmt::format("{}, while {} {}", hosts.name_of(mine), host_name(RankId(other)), at)});
      break;
    }
  }
}

void ModelledDataPlane::start(HostServices& services) {
  services_ = &services;
  hosts_.start(*this);
}

void ModelledDataPlane::post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) {
  if (const auto running = streams_.post(rank, collective, bytes, at)) begin(*running);
}

// A collective ends everywhere in the same cycle, so waking rank 0 is enough.
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
  // A host that did not ask to be woken finds no work.
  hosts_.woken(rank, now);
}

void ModelledDataPlane::explain(WaitList& waits) const {
  streams_.explain(hosts_, waits);
  if (waits.empty()) hosts_.explain(waits);
}

}  // namespace espalier
