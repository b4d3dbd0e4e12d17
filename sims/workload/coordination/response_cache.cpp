#include "sims/workload/coordination/response_cache.h"

#include <algorithm>

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

}  // namespace espalier
