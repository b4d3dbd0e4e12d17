#include "sims/workload/coordination/rank_controller.h"

namespace espalier {

ResponseCache::ResponseCache(std::uint32_t capacity, std::size_t tensors)
    : capacity_(capacity), bit_of_(tensors, kNone) {}

CacheState ResponseCache::look_up(TensorId tensor, ShapeId shape) const {
  const std::uint32_t bit = bit_of_[tensor.index()];
  if (bit == kNone) return CacheState::miss;
  return entries_[bit].shape == shape ? CacheState::hit : CacheState::invalid;
}

bool ResponseCache::put(TensorId tensor, ShapeId shape) {
  if (capacity_ == 0) return false;
  const bool is_new = look_up(tensor, shape) != CacheState::hit;
  std::uint32_t bit = bit_of_[tensor.index()];
  if (bit != kNone) {
    unlink(bit);
  } else if (entries_.size() < capacity_) {
    bit = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    bit = oldest_;
    bit_of_[entries_[bit].tensor.index()] = kNone;
    unlink(bit);
  }
  entries_[bit].tensor = tensor;
  entries_[bit].shape = shape;
  bit_of_[tensor.index()] = bit;
  make_newest(bit);
  return is_new;
}

void ResponseCache::erase(const std::vector<std::uint32_t>& bits) {
  if (bits.empty()) return;
  std::vector<std::uint32_t> by_use;  // oldest first
  for (std::uint32_t bit = oldest_; bit != kNone; bit = entries_[bit].newer) by_use.push_back(bit);
  std::vector<std::uint32_t> moved(entries_.size(), kNone);
  std::vector<Entry> kept;
  for (std::uint32_t bit = 0; bit < entries_.size(); ++bit) {
    const TensorId tensor = entries_[bit].tensor;
    if (std::find(bits.begin(), bits.end(), bit) != bits.end()) {
      bit_of_[tensor.index()] = kNone;
      continue;
    }
    moved[bit] = static_cast<std::uint32_t>(kept.size());
    bit_of_[tensor.index()] = moved[bit];
    kept.push_back({tensor, entries_[bit].shape, kNone, kNone});
  }
  entries_ = std::move(kept);
  oldest_ = newest_ = kNone;
  for (const std::uint32_t bit : by_use) {
    if (moved[bit] != kNone) make_newest(moved[bit]);
  }
}

void ResponseCache::unlink(std::uint32_t bit) {
  Entry& entry = entries_[bit];
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
  entry.older = entry.newer = kNone;
}

void ResponseCache::make_newest(std::uint32_t bit) {
  Entry& entry = entries_[bit];
  entry.older = newest_;
  entry.newer = kNone;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = bit;
  newest_ = bit;
}

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
  // A unit with one invalid tensor waits until it is requested again.
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
