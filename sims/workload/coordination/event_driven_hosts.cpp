#include "sims/workload/coordination/event_driven_hosts.h"

namespace espalier {

EventDrivenHosts::EventDrivenHosts(const TrainingJob& job)
    : job_(job),
      times_(job.set, job.units, job.jitter),
      woken_at_(job.spec.ranks, kNever),
      left_(job.spec.ranks),
      recorder_(job) {
  frameworks_.reserve(job.spec.ranks);
  for (std::size_t r = 0; r < job.spec.ranks; ++r) {
    frameworks_.emplace_back(job, times_, RankId(r));
  }
}

void EventDrivenHosts::start(HostServices& services) {
  services_ = &services;
  for (std::size_t r = 0; r < frameworks_.size(); ++r) wake_when_complete(RankId(r));
}

void EventDrivenHosts::wake_when_complete(RankId rank) {
  const Cycle next = frameworks_[rank.index()].next_ready();
  Cycle& wake = woken_at_[rank.index()];
  if (next == kNever || next == wake) return;
  wake = next;
  services_->wake(rank, next);
}

void EventDrivenHosts::woken(RankId rank, Cycle now) {
  frameworks_[rank.index()].take_until(now, [&](UnitId unit) { completed(rank, unit, now); });
  wake_when_complete(rank);
}

void EventDrivenHosts::post(RankId rank, CollectiveNumber collective, UnitId unit, Cycle at) {
  const TensorUnit& what = job_.units[unit.index()];
  RankFramework& framework = frameworks_[rank.index()];
  recorder_.posted(rank, collective, {what.tensors, what.bytes}, framework, at);
  framework.posted(at);
  services_->post(rank, collective, what.bytes, at);
}

void EventDrivenHosts::collective_done(RankId rank, CollectiveNumber collective, Cycle now) {
  recorder_.done(collective, now);
  RankFramework& framework = frameworks_[rank.index()];
  const std::uint32_t iteration = framework.iteration();
  const Cycle end = framework.reduced(job_.units[unit_of(collective).index()].tensors.size(), now);
  if (end != kNever) recorder_.iteration_over(iteration, end);
  if (framework.finished()) {
    --left_;
  } else {
    wake_when_complete(rank);
  }
}

std::string EventDrivenHosts::name_of(CollectiveNumber collective) const {
  return name_of_tensors(job_, job_.units[unit_of(collective).index()].tensors);
}

}  // namespace espalier
