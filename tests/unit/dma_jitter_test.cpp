// Delays of reads from memory: their range, their spread, and that they repeat.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "ni/dma_engine.h"

namespace espalier {
namespace {

std::vector<Cycle> delays(Cycle most, std::uint64_t seed, std::size_t node, std::size_t count) {
  DmaJitter jitter(most, seed, NodeId(node));
  std::vector<Cycle> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(jitter.next());
  return result;
}

TEST_CASE("Every delay from 0 to the maximum occurs about equally often") {
  constexpr std::size_t kEach = 10'000;
  for (const Cycle most : {Cycle{1}, Cycle{20}, Cycle{63}}) {
    std::vector<std::size_t> times(most + 1, 0);
    for (const Cycle delay : delays(most, 1, 0, kEach * (most + 1))) {
      REQUIRE(delay <= most);
      ++times[delay];
    }
    // Five standard deviations of a count of 10000.
    for (const std::size_t t : times) CHECK(std::abs(static_cast<int>(t) - 10'000) < 500);
  }
}

TEST_CASE("Delays depend on seed, node and ordinal, and on nothing else") {
  const auto some = delays(1000, 1, 0, 50);
  CHECK(delays(1000, 1, 0, 50) == some);
  CHECK(delays(1000, 2, 0, 50) != some);
  CHECK(delays(1000, 1, 1, 50) != some);
  const auto more = delays(1000, 1, 0, 60);
  CHECK(std::vector<Cycle>(more.begin(), more.begin() + 50) == some);
}

TEST_CASE("Without jitter no read is delayed") {
  CHECK(delays(0, 1, 0, 100) == std::vector<Cycle>(100, 0));
  DmaJitter none;
  CHECK(none.next() == 0);
}

}  // namespace
}  // namespace espalier
