// Permutations of ranks: order[r] is the node of rank r.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/hash.h"
#include "hw/ids.h"

namespace espalier {

// A stream of random numbers that is the same on every machine: a counter through mix of hw/hash.h.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : seed_(mix(seed)) {}

  [[nodiscard]] std::uint64_t next() { return mix(seed_ ^ mix(counter_++)); }

  // Below `bound`, as the high half of a product. The bias is below bound / 2^32.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

using RankOrder = std::vector<std::uint32_t>;

[[nodiscard]] RankOrder identity_permutation(std::size_t nodes);
// Each of the N! permutations with equal probability (Fisher and Yates). A seed gives the same
// permutation on every machine.
[[nodiscard]] RankOrder random_permutation(std::size_t nodes, std::uint64_t seed);

[[nodiscard]] std::vector<NodeId> to_nodes(const RankOrder& order);

}  // namespace espalier
