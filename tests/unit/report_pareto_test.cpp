#include "sims/report/page/area.h"

#include <catch2/catch.hpp>

#include <random>

using namespace espalier::report;

TEST_CASE("The Pareto front of one design is that design, and that of no design is empty") {
  CHECK(pareto_front({}).empty());
  CHECK(pareto_front({{3, 4}}) == std::vector<bool>{true});
}

TEST_CASE("A design is dominated where another is as good in both and better in one") {
  //                        front   dominated  front   dominated: as cheap, slower
  CHECK(pareto_front({{1, 10}, {2, 11}, {3, 5}, {3, 6}}) ==
        std::vector<bool>{true, false, true, false});
  // As fast, but dearer.
  CHECK(pareto_front({{2, 10}, {1, 10}}) == std::vector<bool>{false, true});
}

TEST_CASE("Equal designs are on the front together, or off it together") {
  CHECK(pareto_front({{1, 2}, {1, 2}, {2, 1}}) == std::vector<bool>{true, true, true});
  CHECK(pareto_front({{2, 3}, {1, 2}, {2, 3}}) == std::vector<bool>{false, true, false});
}

TEST_CASE("The front of random designs is what comparing all pairs gives") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Design> designs(1 + random() % 30);
    for (Design& design : designs)
      design = {static_cast<double>(random() % 8), static_cast<double>(random() % 8)};
    const std::vector<bool> front = pareto_front(designs);
    for (std::size_t i = 0; i < designs.size(); ++i) {
      bool dominated = false;
      for (const Design& other : designs) {
        const bool as_good = other.cost <= designs[i].cost && other.time <= designs[i].time;
        const bool better = other.cost < designs[i].cost || other.time < designs[i].time;
        dominated = dominated || (as_good && better);
      }
      CHECK(front[i] == !dominated);
    }
  }
}
