// Latency matrices for tests of rank orders.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/rank_order/permutation.h"

namespace espalier::test {

using Latencies = std::vector<std::uint64_t>;

inline Latencies random_latencies(std::size_t nodes, std::uint64_t seed,
                                  std::uint32_t most = 1000) {
  RandomSource random(seed);
  Latencies latencies(nodes * nodes, 0);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = 0; j < nodes; ++j) {
      if (i != j) latencies[i * nodes + j] = 1 + random.below(most);
    }
  }
  return latencies;
}

// Racks of `rack` nodes, pods of `pod` racks, a core above them, nodes dealt out at random: round
// trips of 10, 40 and 100, up to a fifth more of each pair.
inline Latencies hierarchical_latencies(std::size_t nodes, std::size_t rack, std::size_t pod,
                                        std::uint64_t seed) {
  const auto place = espalier::random_permutation(nodes, seed);
  RandomSource random(seed + 1);
  Latencies latencies(nodes * nodes, 0);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t a = place[i] / rack;
      const std::size_t b = place[j] / rack;
      const std::uint64_t base = a == b ? 1000 : a / pod == b / pod ? 4000 : 10000;
      const std::uint64_t latency = base + random.below(static_cast<std::uint32_t>(base / 5));
      latencies[i * nodes + j] = latencies[j * nodes + i] = latency;
    }
  }
  return latencies;
}

}  // namespace espalier::test
