#include "sims/workload/coordination/rank_controller.h"

#include <algorithm>

namespace espalier {

RankController::RankController(const TrainingJob& job, std::uint32_t capacity)
    : job_(&job), cache_(capacity, job.set.tensors.size()), shape_(job.units.size(), 0) {}

void RankController::submit(UnitId unit, ShapeId shape) {
  shape_[unit.index()] = shape;
  submitted_.push_back(unit);
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

void RankController::look_up_submitted() {
  uncached_.clear();
  invalid_.clear();
  if (bits_moved_) {
    submitted_.insert(submitted_.begin(), cached_.begin(), cached_.end());
    cached_.clear();
    bits_ = BitVector(cache_.size());
    bits_moved_ = false;
  }
  for (const UnitId unit : submitted_) {
    if (look_up(unit, invalid_) != CacheState::hit) {
      uncached_.push_back(unit);
      continue;
    }
    cached_.push_back(unit);
    for (const TensorId tensor : tensors_of(unit)) bits_.set(cache_.bit_of(tensor));
  }
  submitted_.clear();
}

std::vector<UnitId> RankController::intersected(const BitVector& common, const BitVector& invalid) {
  std::vector<UnitId> ready;
  std::vector<std::uint32_t> gone;
  BitVector::for_each(common, invalid, [&](std::uint32_t bit) {
    if (bit >= cache_.size()) return;
    if (invalid.test(bit)) {
      gone.push_back(bit);
      return;
    }
    const UnitId unit = job_->unit_of[cache_.tensor_at(bit).index()];
    if (std::find(ready.begin(), ready.end(), unit) == ready.end()) ready.push_back(unit);
  });
  if (gone.empty()) return ready;
  // A unit with one invalid tensor waits until it is asked for anew, with all the others.
  const auto is_invalid = [&](UnitId unit) {
    const auto& tensors = tensors_of(unit);
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](TensorId t) { return invalid.test(cache_.bit_of(t)); });
  };
  ready.erase(std::remove_if(ready.begin(), ready.end(), is_invalid), ready.end());
  cache_.erase(gone);
  bits_moved_ = true;
  return ready;
}

void RankController::executed(const std::vector<UnitId>& units) {
  for (const UnitId unit : units) {
    const auto pending = std::find(cached_.begin(), cached_.end(), unit);
    if (pending != cached_.end()) {
      cached_.erase(pending);
      for (const TensorId tensor : tensors_of(unit)) {
        if (!bits_moved_) bits_.reset(cache_.bit_of(tensor));
      }
    }
    for (const TensorId tensor : tensors_of(unit)) {
      if (cache_.put(tensor, shape_[unit.index()])) bits_moved_ = true;
    }
  }
  num_executed_ += units.size();
}

}  // namespace espalier
