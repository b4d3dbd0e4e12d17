// What one rank's background thread knows and decides in a cycle: its tensor queue and its response
// cache (Romero et al., Algorithms 1 and 2). No time, no messages.
#pragma once

#include <vector>

#include "sims/workload/coordination/bit_vector.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/response_cache.h"

namespace espalier {

class RankController {
 public:
  // `job` must outlive it. `capacity` of the response cache.
  RankController(const TrainingJob& job, std::uint32_t capacity);

  // The framework submits a unit; it is not submitted again before it is executed.
  void submit(UnitId unit, ShapeId shape);

  // A cycle begins: what has been submitted, and what is pending where the cache has changed, is
  // looked up. A unit is cached where all its tensors are.
  void begin_cycle() {
    const bool nothing =
        submitted_.empty() && !bits_moved_ && uncached_.empty() && invalid_.empty();
    if (!nothing) look_up_submitted();
  }
  [[nodiscard]] std::size_t cached_entries() const { return cache_.size(); }
  // Its part of the bit vector, cached units that are pending, intersected with that of others.
  void intersect_pending(BitVector& common) const { common.intersect(bits_); }
  // No unit is cached and pending.
  [[nodiscard]] bool none_pending() const { return cached_.empty(); }
  [[nodiscard]] const std::vector<std::uint32_t>& invalid_bits() const { return invalid_; }
  // Requests for the coordinator, each sent once: units that are pending and not cached.
  [[nodiscard]] const std::vector<UnitId>& uncached() const { return uncached_; }

  // The vectors of all ranks, intersected, and what any of them found invalid, united. Returns the
  // units that are pending everywhere, in the order of their first bits. The cache drops the
  // invalid ones.
  [[nodiscard]] std::vector<UnitId> intersected(const BitVector& common, const BitVector& invalid);

  // Units are executed, in the global order: their responses are cached, and they leave the queue.
  void executed(const std::vector<UnitId>& units);
  [[nodiscard]] std::uint64_t num_executed() const { return num_executed_; }

 private:
  void look_up_submitted();
  [[nodiscard]] CacheState look_up(UnitId unit, std::vector<std::uint32_t>& invalid) const;

  [[nodiscard]] const std::vector<TensorId>& tensors_of(UnitId unit) const {
    return job_->units[unit.index()].tensors;
  }

  const TrainingJob* job_;
  ResponseCache cache_;
  std::vector<UnitId> submitted_;  // not looked up yet
  std::vector<UnitId> cached_;     // pending
  BitVector bits_;                 // of `cached_`
  std::vector<UnitId> uncached_;   // of this cycle
  std::vector<std::uint32_t> invalid_;
  bool bits_moved_ = false;     // what is cached has changed since `bits_`
  std::vector<ShapeId> shape_;  // by unit, as submitted last
  std::uint64_t num_executed_ = 0;
};

}  // namespace espalier
