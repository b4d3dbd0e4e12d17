#include "sims/workload/coordination/training_recorder.h"

#include <algorithm>

namespace espalier {

TrainingRecorder::TrainingRecorder(const TrainingJob& job) : job_(job) {
  record_.iterations.resize(job.spec.iterations);
  record_.iterations.front().begin = 0;
}

void TrainingRecorder::control_cycle(std::uint32_t iteration, Cycle begin, Cycle end) {
  // Cycles after the last tensor count towards the last iteration.
  const std::size_t last = record_.iterations.size() - 1;
  IterationRecord& of = record_.iterations[std::min<std::size_t>(iteration, last)];
  of.control += end - begin;
  ++of.control_cycles;
}

void TrainingRecorder::control_messages(std::uint64_t count, Bytes bytes) {
  record_.control_messages += count;
  record_.control_bytes += bytes;
}

void TrainingRecorder::posted(RankId rank, CollectiveNumber collective, const Response& response,
                              const RankFramework& framework, Cycle at) {
  if (collective >= record_.collectives.size()) record_.collectives.resize(collective + 1);
  CollectiveRecord& posted = record_.collectives[collective];
  posted.bytes = response.bytes;
  posted.tensors = static_cast<std::uint32_t>(response.tensors.size());
  posted.first_posted = std::min(posted.first_posted, at);
  posted.last_posted = std::max(posted.last_posted, at);
  if (rank != RankId(0)) return;
  posted.iteration = framework.iteration();
  for (const TensorId tensor : response.tensors) {
    const auto complete = framework.completion_of(job_.unit_of[tensor.index()]);
    posted.first_complete = std::min(posted.first_complete, complete.first);
    posted.last_complete = std::max(posted.last_complete, complete.last);
  }
}

void TrainingRecorder::done(CollectiveNumber collective, Cycle now) {
  Cycle& end = record_.collectives[collective].end;
  end = std::max(end, now);
}

void TrainingRecorder::iteration_over(std::uint32_t iteration, Cycle end) {
  IterationRecord& over = record_.iterations[iteration];
  over.end = std::max(over.end, end);
  record_.end = std::max(record_.end, end);
  if (iteration + 1 == record_.iterations.size()) return;
  Cycle& begin = record_.iterations[iteration + 1].begin;
  begin = std::min(begin, end);
}

}  // namespace espalier
