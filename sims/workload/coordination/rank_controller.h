// State and decisions of one rank's background thread in a cycle: its tensor queue and its response
// cache (Romero et al., Algorithms 1 and 2). Other files handle time and messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

// Bits that ranks intersect and unite.
class BitVector {
 public:
  explicit BitVector(std::size_t bits = 0, bool value = false)
      : words_((bits + 63) / 64, value ? ~std::uint64_t{0} : 0) {}

  void set(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }
  void reset(std::size_t bit) { words_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64)); }
  [[nodiscard]] bool test(std::size_t bit) const {
    return (words_[bit / 64] >> (bit % 64) & 1U) != 0;
  }
  [[nodiscard]] bool none() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
  }
  // Calls use(bit) for every bit set in `a` or `b`, ascending. Precondition: equal lengths.
  template <class Use>
  static void for_each(const BitVector& a, const BitVector& b, Use&& use) {
    for (std::size_t w = 0; w < a.words_.size(); ++w) {
      std::uint64_t left = a.words_[w] | b.words_[w];
      for (std::size_t bit = 64 * w; left != 0; ++bit, left >>= 1) {
        if ((left & 1U) != 0) use(static_cast<std::uint32_t>(bit));
      }
    }
  }
  // Precondition: equal lengths.
  void intersect(const BitVector& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  }

 private:
  std::vector<std::uint64_t> words_;
};

// A request's shape. A cached response is invalid when the shape has changed.
using ShapeId = std::uint32_t;

enum class CacheState : std::uint8_t { miss, hit, invalid };

// A rank's cache of responses (Romero et al., section 3.1.1): it assigns tensors to bits of the bit
// vector. Responses have one global order, so the caches of all ranks are equal.
class ResponseCache {
 public:
  // At most `capacity` entries; 0: nothing is cached.
  ResponseCache(std::uint32_t capacity, std::size_t tensors);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] CacheState look_up(TensorId tensor, ShapeId shape) const;
  // Preconditions: the tensor is cached; bit < size().
  [[nodiscard]] std::uint32_t bit_of(TensorId tensor) const { return bit_of_[tensor.index()]; }
  [[nodiscard]] TensorId tensor_at(std::uint32_t bit) const { return entries_[bit].tensor; }

  // A response is executed, so its entry becomes the most recently used. A new entry takes the next
  // bit, or the bit of the least recently used entry if the cache is full. Returns true if the
  // response was not a hit.
  bool put(TensorId tensor, ShapeId shape);
  // Removes entries that a rank found invalid. The remaining entries move together and keep their
  // order.
  void erase(const std::vector<std::uint32_t>& bits);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Entry {
    TensorId tensor;
    ShapeId shape = 0;
    std::uint32_t older = kNone;  // neighbours in the order of last use
    std::uint32_t newer = kNone;
  };

  void unlink(std::uint32_t bit);
  void make_newest(std::uint32_t bit);

  std::uint32_t capacity_;
  std::vector<Entry> entries_;         // by bit
  std::vector<std::uint32_t> bit_of_;  // by tensor; kNone: not cached
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
};

class RankController {
 public:
  // `capacity`: of the response cache. `job` must outlive it.
  RankController(const TrainingJob& job, std::uint32_t capacity);

  // The framework submits a unit. It submits the unit again only after its execution.
  void submit(UnitId unit, ShapeId shape);

  // A cycle begins: looks up submitted units, and pending units if the cache has changed. A unit is
  // cached if all its tensors are.
  void begin_cycle() {
    const bool nothing =
        submitted_.empty() && !bits_moved_ && uncached_.empty() && invalid_.empty();
    if (!nothing) look_up_submitted();
  }
  [[nodiscard]] std::size_t cached_entries() const { return cache_.size(); }
  // Clears the bits in `common` whose units are not cached and pending here.
  void intersect_pending(BitVector& common) const { common.intersect(bits_); }
  // True if no unit is cached and pending.
  [[nodiscard]] bool none_pending() const { return cached_.empty(); }
  [[nodiscard]] const std::vector<std::uint32_t>& invalid_bits() const { return invalid_; }
  // Requests for the coordinator, each sent once: pending units that are not cached.
  [[nodiscard]] const std::vector<UnitId>& uncached() const { return uncached_; }

  // `common`: intersection of all ranks' pending bits. `invalid`: union of their invalid bits,
  // which the cache drops. Returns the units that are pending everywhere, in the order of their
  // first bits.
  [[nodiscard]] std::vector<UnitId> intersected(const BitVector& common, const BitVector& invalid);

  // Units are executed, in the global order. Their responses are cached, and they leave the queue.
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
  std::vector<UnitId> submitted_;  // not yet looked up
  std::vector<UnitId> cached_;     // pending
  BitVector bits_;                 // of `cached_`
  std::vector<UnitId> uncached_;   // of this cycle
  std::vector<std::uint32_t> invalid_;
  bool bits_moved_ = false;     // the cache has changed since `bits_` was made
  std::vector<ShapeId> shape_;  // by unit, of its latest submission
  std::uint64_t num_executed_ = 0;
};

}  // namespace espalier
