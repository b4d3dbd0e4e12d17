// A rank's cache of responses (Romero et al., section 3.1.1): which bit of the bit vector stands
// for which tensor. Responses come in one global order, so that the caches of all ranks are alike.
#pragma once

#include <cstdint>
#include <vector>

#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

// What a request asks for besides its name: where it changes, a cached response is no good.
using ShapeId = std::uint32_t;

enum class CacheState : std::uint8_t { miss, hit, invalid };

class ResponseCache {
 public:
  // At most `capacity` entries; 0: nothing is ever cached.
  ResponseCache(std::uint32_t capacity, std::size_t tensors);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] CacheState look_up(TensorId tensor, ShapeId shape) const;
  // Preconditions: the tensor is cached; bit < size().
  [[nodiscard]] std::uint32_t bit_of(TensorId tensor) const { return bit_of_[tensor.index()]; }
  [[nodiscard]] TensorId tensor_at(std::uint32_t bit) const { return entries_[bit].tensor; }

  // A response is executed: its entry is the one used last. A new one takes the next bit, or, where
  // the cache is full, that of the entry not used for longest. True if it was no hit before.
  bool put(TensorId tensor, ShapeId shape);
  // Entries that some rank found invalid, by bit; those that stay close up, in order.
  void erase(const std::vector<std::uint32_t>& bits);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Entry {
    TensorId tensor;
    ShapeId shape = 0;
    // In the order of last use.
    std::uint32_t older = kNone;
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

}  // namespace espalier
