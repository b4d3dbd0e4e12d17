#include "sims/coordination/rank_controller.h"

#include <algorithm>

namespace espalier {

RankController::RankController(const TrainingJob& job, std::uint32_t capacity)
    : job_(&job), cache_(capacity, job.set.tensors.size()), shape_(job.units.size(), 0) {}

void RankController::submit(UnitId unit, ShapeId shape) {
  shape_[unit.index()] = shape;
  queue_.push_back(unit);
}

CacheState RankController::look_up(UnitId unit, std::vector<std::uint32_t>& invalid) const {
  CacheState state = CacheState::hit;
  for (const TensorId tensor : tensors_of(unit)) {
    const CacheState one = cache_.look_up(tensor, shape_[unit.index()]);
    if (one == CacheState::invalid) invalid.push_back(cache_.bit_of(tensor));
    if (one != CacheState::hit && state != CacheState::invalid) state = one;
  }
  return state;
}

void RankController::begin_cycle() {
  cached_.clear();
  uncached_.clear();
  invalid_.clear();
  for (const UnitId unit : queue_) {
    const bool is_cached = look_up(unit, invalid_) == CacheState::hit;
    (is_cached ? cached_ : uncached_).push_back(unit);
  }
  queue_ = cached_;
}

BitVector RankController::pending_bits() const {
  BitVector bits(cache_.size());
  for (const UnitId unit : cached_) {
    for (const TensorId tensor : tensors_of(unit)) bits.set(cache_.bit_of(tensor));
  }
  return bits;
}

std::vector<UnitId> RankController::intersected(const BitVector& common, const BitVector& invalid) {
  std::vector<UnitId> ready;
  std::vector<std::uint32_t> gone;
  std::vector<bool> seen;
  for (std::uint32_t bit = 0; bit < cache_.size(); ++bit) {
    if (invalid.test(bit)) {
      gone.push_back(bit);
    } else if (common.test(bit)) {
      const UnitId unit = job_->unit_of[cache_.tensor_at(bit).index()];
      if (seen.empty()) seen.resize(job_->units.size(), false);
      if (!seen[unit.index()]) ready.push_back(unit);
      seen[unit.index()] = true;
    }
  }
  if (!gone.empty()) {
    // A unit with one invalid tensor waits until it is asked for anew, with all the others.
    const auto is_hit = [&](UnitId unit) {
      const auto& tensors = tensors_of(unit);
      return std::none_of(tensors.begin(), tensors.end(),
                          [&](TensorId t) { return invalid.test(cache_.bit_of(t)); });
    };
    ready.erase(std::remove_if(ready.begin(), ready.end(),
                               [&](UnitId unit) { return !is_hit(unit); }),
                ready.end());
    cache_.erase(gone);
  }
  return ready;
}

void RankController::executed(const std::vector<UnitId>& units) {
  for (const UnitId unit : units) {
    for (const TensorId tensor : tensors_of(unit)) {
      cache_.put(tensor, shape_[unit.index()]);
    }
  }
  num_executed_ += units.size();
  if (queue_.empty()) return;
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(),
                              [&](UnitId queued) {
                                return std::find(units.begin(), units.end(), queued) != units.end();
                              }),
               queue_.end());
}

}  // namespace espalier
