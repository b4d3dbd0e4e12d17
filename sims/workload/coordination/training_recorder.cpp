#include "sims/workload/coordination/training_recorder.h"

#include <algorithm>

namespace espalier {

TrainingRanks::TrainingRanks(const TrainingJob& job)
    : job_(job), times_(job.set, job.units, job.jitter), left_(job.spec.ranks) {
  frameworks_.reserve(left_);
  for (std::size_t r = 0; r < left_; ++r) frameworks_.emplace_back(job, times_, RankId(r));
  record_.iterations.resize(job.spec.iterations);
  record_.iterations.front().begin = 0;
}

void TrainingRanks::control_cycle(std::uint64_t executed, Cycle begin, Cycle end) {
  // Cycles after the last tensor count towards the last iteration.
  const std::size_t last = record_.iterations.size() - 1;
  IterationRecord& of =
      record_.iterations[std::min<std::size_t>(executed / job_.units.size(), last)];
  of.control += end - begin;
  ++of.control_cycles;
}

void TrainingRanks::control_messages(std::uint64_t count, Bytes bytes) {
  record_.control_messages += count;
  record_.control_bytes += bytes;
}

void TrainingRanks::posted(RankId rank, CollectiveNumber collective, const Response& response,
                           Cycle at) {
  if (collective >= record_.collectives.size()) record_.collectives.resize(collective + 1);
  CollectiveRecord& posted = record_.collectives[collective];
  RankFramework& framework = frameworks_[rank.index()];
  posted.bytes = response.bytes;
  posted.tensors = static_cast<std::uint32_t>(response.tensors.size());
  posted.first_posted = std::min(posted.first_posted, at);
  posted.last_posted = std::max(posted.last_posted, at);
  if (rank == RankId(0)) {
    posted.iteration = framework.iteration();
    for (const TensorId tensor : response.tensors) {
      const auto complete = framework.completion_of(job_.unit_of[tensor.index()]);
      posted.first_complete = std::min(posted.first_complete, complete.first);
      posted.last_complete = std::max(posted.last_complete, complete.last);
    }
  }
  framework.posted(at);
}

void TrainingRanks::done(RankId rank, CollectiveNumber collective, Cycle now) {
  CollectiveRecord& done = record_.collectives[collective];
  done.end = std::max(done.end, now);
  RankFramework& framework = frameworks_[rank.index()];
  const std::uint32_t iteration = framework.iteration();
  const Cycle end = framework.reduced(done.tensors, now);
  if (end == kNever) return;
  IterationRecord& over = record_.iterations[iteration];
  over.end = std::max(over.end, end);
  record_.end = std::max(record_.end, end);
  if (framework.finished()) {
    --left_;
    return;
  }
  Cycle& begin = record_.iterations[iteration + 1].begin;
  begin = std::min(begin, end);
}

}  // namespace espalier
