#include "sims/workload/coordination/rank_framework.h"

#include <algorithm>

namespace espalier {

RankFramework::RankFramework(const TrainingJob& job, const ReadyTimes& times, RankId rank)
    : job_(&job), times_(&times), rank_(rank), clock_(job.spec.lost_permille) {
  begin(0);
}

void RankFramework::begin(Cycle at) {
  begin_ = at;
  clock_.begin(at);
  ready_ = times_->of(rank_, iteration_);
  next_ = 0;
  find_earliest();
  left_ = job_->set.tensors.size();
}

ShapeId RankFramework::shape() const {
  const std::uint32_t every = job_->spec.new_shapes_every;
  return every == 0 ? 0 : iteration_ / every;
}

RankFramework::Completion RankFramework::completion_of(UnitId unit) const {
  const auto found = std::find_if(ready_.begin(), ready_.end(),
                                  [&](const ReadyUnit& ready) { return ready.unit == unit; });
  return {clock_.when_computed(found->first), clock_.when_computed(found->at)};
}

Cycle RankFramework::reduced(std::size_t tensors, Cycle now) {
  clock_.done(now);
  left_ -= tensors;
  if (left_ != 0) return kNever;
  const Cycle end = std::max(now, clock_.when_computed(times_->compute(rank_, iteration_)));
  ++iteration_;
  if (!finished()) begin(end);
  return end;
}

}  // namespace espalier
