// One rank's deep-learning framework: it computes, iteration after iteration, and submits gradients
// when they are complete.
#pragma once

#include <vector>

#include "sims/workload/coordination/compute_clock.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/rank_controller.h"

namespace espalier {

class RankFramework {
 public:
  // Both must outlive it. Starts the first iteration in cycle 0.
  RankFramework(const TrainingJob& job, const ReadyTimes& times, RankId rank);

  // Units that are complete by cycle `now` and have not been taken, in the order of their
  // completion.
  template <class Take>
  void take_until(Cycle now, Take&& take) {
    if (now < earliest_) return;
    const Cycle computed = clock_.computed_by(now);
    for (; next_ < ready_.size() && ready_[next_].at <= computed; ++next_) {
      take(ready_[next_].unit);
    }
    find_earliest();
  }
  // When the next one is complete, as far as is known of all-reduces that slow computing down;
  // kNever after the iteration's last.
  [[nodiscard]] Cycle next_ready() const {
    return next_ < ready_.size() ? clock_.when_computed(ready_[next_].at) : kNever;
  }
  // What a request of this iteration asks for.
  [[nodiscard]] ShapeId shape() const;

  // An all-reduce is posted to its stream in cycle `at`.
  void posted(Cycle at) { clock_.posted(at); }
  // So many of its tensors have been reduced, by an all-reduce that was posted. Where they were the
  // iteration's last, returns when it ends: computing has ended as well, and the next one, if there
  // is any, begins. Else kNever.
  Cycle reduced(std::size_t tensors, Cycle now);

  [[nodiscard]] std::uint32_t iteration() const { return iteration_; }
  [[nodiscard]] Cycle iteration_begin() const { return begin_; }
  [[nodiscard]] bool finished() const { return iteration_ == job_->spec.iterations; }
  // When the unit's first tensor, and when all of it, is complete in this iteration.
  struct Completion {
    Cycle first = 0;
    Cycle last = 0;
  };
  [[nodiscard]] Completion completion_of(UnitId unit) const;

 private:
  void begin(Cycle at);
  void find_earliest() { earliest_ = next_ < ready_.size() ? begin_ + ready_[next_].at : kNever; }

  const TrainingJob* job_;
  const ReadyTimes* times_;
  RankId rank_;
  ComputeClock clock_;
  std::uint32_t iteration_ = 0;
  Cycle begin_ = 0;
  std::vector<ReadyUnit> ready_;
  std::size_t next_ = 0;  // in ready_
  Cycle earliest_ = 0;    // that the next one can be complete, with nothing that slows it down
  std::size_t left_ = 0;  // tensors not yet reduced
};

}  // namespace espalier
