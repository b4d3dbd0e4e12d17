// One rank's deep-learning framework: it computes, iteration after iteration, and submits gradients
// when they are complete.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/rank_controller.h"
#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

// When the gradients of one rank are complete. The time varies from rank to rank and from iteration
// to iteration, and the framework's task graph does not fix the order (Romero et al., section
// 2.2.1).
struct ReadyUnit {
  Cycle at = 0;     // from the start of the iteration
  Cycle first = 0;  // when its first tensor is complete
  UnitId unit;
};

class ReadyTimes {
 public:
  // `set` and `units` must outlive it.
  ReadyTimes(const TensorSet& set, const std::vector<TensorUnit>& units, const JitterSpec& jitter);

  // Ascending in time; equal times in the order of units. A group is complete with its last tensor.
  [[nodiscard]] std::vector<ReadyUnit> of(RankId rank, std::uint32_t iteration) const;
  // Compute time of the whole iteration on the rank.
  [[nodiscard]] Cycle compute(RankId rank, std::uint32_t iteration) const;

 private:
  [[nodiscard]] double slowness(RankId rank, std::uint32_t iteration) const;
  // Tensors in the order of their completion.
  [[nodiscard]] std::vector<std::size_t> order(RankId rank, std::uint32_t iteration) const;

  const TensorSet& set_;
  const std::vector<TensorUnit>& units_;
  JitterSpec jitter_;
  std::vector<std::size_t> unit_of_;  // by tensor
};

// Progress of a rank's computing in an iteration. All-reduces slow it down, because their kernels
// use the accelerator's processors and memory.
class ComputeClock {
 public:
  static constexpr std::uint32_t kFullSpeed = 1000;  // work done in a cycle

  // `lost_permille` of the speed is lost while an all-reduce is posted and not done; below 1000.
  explicit ComputeClock(std::uint32_t lost_permille) : slow_speed_(kFullSpeed - lost_permille) {}

  // Computing starts in cycle `at`. Precondition: no all-reduce is in flight.
  void begin(Cycle at) { pieces_.assign(1, {at, 0, kFullSpeed}); }
  // An all-reduce is posted to the rank's stream, or the oldest one is done. Posts come in the
  // order of time, and ends too. `at` may be later than the current cycle.
  void posted(Cycle at);
  void done(Cycle at);

  // Work done by cycle `now`, in cycles of undisturbed computing. Precondition: `now` is not before
  // the start.
  [[nodiscard]] Cycle computed_by(Cycle now) const;
  // The first cycle in which `computed` cycles of work are done, given the all-reduces known now.
  [[nodiscard]] Cycle when_computed(Cycle computed) const;

 private:
  // Constant speed from `begin` to the next piece.
  struct Piece {
    Cycle begin = 0;
    std::uint64_t work = 0;  // work done before `begin`
    std::uint32_t speed = kFullSpeed;
  };
  void change_speed(Cycle at, std::uint32_t speed);
  void slow_down(Cycle at);

  std::uint32_t slow_speed_;
  std::vector<Cycle> under_way_;  // times at which the unfinished all-reduces were posted
  std::vector<Piece> pieces_{1};
};

class RankFramework {
 public:
  // Starts the first iteration in cycle 0. `job` and `times` must outlive it.
  RankFramework(const TrainingJob& job, const ReadyTimes& times, RankId rank);

  // Calls take(unit) for units that are complete by cycle `now` and not yet taken, in the order of
  // their completion.
  template <class Take>
  void take_until(Cycle now, Take&& take) {
    if (now < earliest_) return;
    const Cycle computed = clock_.computed_by(now);
    for (; next_ < ready_.size() && ready_[next_].at <= computed; ++next_) {
      take(ready_[next_].unit);
    }
    find_earliest();
  }
  // When the next unit is complete, given the all-reduces known now; kNever after the last unit of
  // the iteration.
  [[nodiscard]] Cycle next_ready() const {
    return next_ < ready_.size() ? clock_.when_computed(ready_[next_].at) : kNever;
  }
  // The shape of this iteration's requests.
  [[nodiscard]] ShapeId shape() const;

  // An all-reduce is posted to the rank's stream in cycle `at`.
  void posted(Cycle at) { clock_.posted(at); }
  // An all-reduce of `tensors` tensors is done. If these were the iteration's last tensors, begins
  // the next iteration and returns when this one ends, which is not before its computing ends.
  // Otherwise returns kNever.
  Cycle reduced(std::size_t tensors, Cycle now);

  [[nodiscard]] std::uint32_t iteration() const { return iteration_; }
  [[nodiscard]] bool finished() const { return iteration_ == job_->spec.iterations; }
  // When the unit's first and last tensors are complete in this iteration.
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
  std::size_t next_ = 0;  // index into ready_
  Cycle earliest_ = 0;    // when the next unit would be complete at full speed
  std::size_t left_ = 0;  // tensors not yet reduced
};

}  // namespace espalier
