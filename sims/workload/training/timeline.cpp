#include "sims/workload/training/timeline.h"

#include <algorithm>

namespace espalier {

namespace {

class Composer {
 public:
  Composer(const Workload& workload, const ParallelGroups& groups, CollectiveCost& cost)
      : workload_(workload),
        groups_(groups),
        cost_(cost),
        free_at_(groups.all.size(), 0.0),
        waiters_(workload.steps.size() + 1) {
    for (std::size_t c = 0; c < workload.communications.size(); ++c) {
      waiters_[std::min(workload.communications[c].waited_before, workload.steps.size())].push_back(
          c);
    }
  }

  void run_iteration() {
    ends_.assign(workload_.communications.size(), 0.0);
    std::size_t next = 0;
    for (std::size_t s = 0; s < workload_.steps.size(); ++s) {
      wait_for(waiters_[s]);
      compute(workload_.steps[s]);
      for (; next < ends_.size() && workload_.communications[next].issued_after == s; ++next) {
        ends_[next] = start(workload_.communications[next].op);
      }
    }
    wait_for(waiters_.back());
  }

  [[nodiscard]] const TrainingTimeline& result() const { return result_; }

 private:
  void compute(const ComputeStep& step) {
    now_ += step.nanoseconds;
    (is_forward(step.phase) ? result_.forward : result_.backward) += step.nanoseconds;
  }

  // Returns when the operation ends.
  double start(const CommunicationOp& op) {
    double begin = now_;
    const LogicalGroup& group = groups_.of(op.scope);
    for (const GroupDimension& d : group) begin = std::max(begin, free_at_[d.dimension]);
    const double end = begin + cost_.nanoseconds(op);
    for (const GroupDimension& d : group) free_at_[d.dimension] = end;
    // An operation that begins later than now follows another operation without a gap.
    result_.communication += std::max(0.0, end - std::max(begin, covered_));
    covered_ = std::max(covered_, end);
    return end;
  }

  void wait_for(std::vector<std::size_t>& communications) {
    std::stable_sort(communications.begin(), communications.end(),
                     [&](std::size_t a, std::size_t b) { return ends_[a] < ends_[b]; });
    for (const std::size_t c : communications) {
      if (ends_[c] <= now_) continue;
      const bool data = workload_.communications[c].parallelism == Parallelism::data;
      (data ? result_.exposed_data : result_.exposed_model) += ends_[c] - now_;
      now_ = ends_[c];
    }
  }

  const Workload& workload_;
  const ParallelGroups& groups_;
  CollectiveCost& cost_;
  double now_ = 0;
  double covered_ = 0;           // communication is counted up to this time
  std::vector<double> free_at_;  // by physical dimension
  std::vector<double> ends_;     // by communication of this iteration
  // By step, then for the iteration's end: the communications that it waits for.
  std::vector<std::vector<std::size_t>> waiters_;
  TrainingTimeline result_;
};

}  // namespace

TrainingTimeline run_timeline(const Workload& workload, const ParallelGroups& groups,
                              CollectiveCost& cost, std::uint32_t iterations) {
  Composer composer(workload, groups, cost);
  composer.run_iteration();
  // No operation outlives its iteration, so all iterations are equal.
  TrainingTimeline all = composer.result();
  for (double* part :
       {&all.forward, &all.backward, &all.exposed_data, &all.exposed_model, &all.communication}) {
    *part *= iterations;
  }
  return all;
}

}  // namespace espalier
