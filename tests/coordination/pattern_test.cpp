#include <catch2/catch.hpp>

#include "sims/workload/coordination/control_pattern.h"

using namespace espalier;

namespace {

// Whose contributions each rank has at the end, and how many copies of each.
std::vector<std::vector<int>> spread(const ControlPattern& pattern, std::size_t ranks) {
  std::vector<std::vector<int>> has(ranks, std::vector<int>(ranks, 0));
  for (std::size_t r = 0; r < ranks; ++r) has[r][r] = 1;
  for (const auto& round : pattern.rounds) {
    const auto before = has;
    for (const PatternMessage& m : round) {
      for (std::size_t r = 0; r < ranks; ++r) {
        has[m.to.index()][r] += before[m.from.index()][r];
      }
    }
  }
  return has;
}

}  // namespace

TEST_CASE("a gather brings every rank's part to the root once, in ceil(log2 N) rounds") {
  for (std::size_t ranks = 1; ranks <= 40; ++ranks) {
    const ControlPattern pattern = binomial_gather(ranks);
    CHECK(spread(pattern, ranks)[0] == std::vector<int>(ranks, 1));
    CHECK((std::size_t{1} << pattern.rounds.size()) >= ranks);
    CHECK((ranks == 1 || (std::size_t{1} << pattern.rounds.size()) < 2 * ranks));
    for (std::uint32_t arity = 1; arity < 6; ++arity) {
      CHECK(spread(tree_gather(ranks, arity), ranks)[0] == std::vector<int>(ranks, 1));
    }
  }
}

TEST_CASE("a broadcast reaches every rank once") {
  for (std::size_t ranks = 1; ranks <= 40; ++ranks) {
    for (const ControlPattern& pattern : {binomial_broadcast(ranks), tree_broadcast(ranks, 3)}) {
      std::vector<int> received(ranks, 0);
      received[0] = 1;
      for (const auto& round : pattern.rounds) {
        for (const PatternMessage& m : round) {
          CHECK(received[m.from.index()] == 1);
          ++received[m.to.index()];
        }
      }
      CHECK(received == std::vector<int>(ranks, 1));
    }
  }
}

TEST_CASE("recursive doubling leaves every rank with every other's part") {
  for (std::size_t ranks = 1; ranks <= 40; ++ranks) {
    for (const auto& of_rank : spread(recursive_doubling(ranks), ranks)) {
      for (const int copies : of_rank) CHECK(copies >= 1);
    }
  }
}
