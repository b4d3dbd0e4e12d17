#include "sims/page/area.h"

#include <catch2/catch.hpp>

#include <algorithm>
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

TEST_CASE("Differences within the tolerance do not put a design on the front") {
  // 0.07 % less area for twice the time.
  const std::vector<Design> designs{{70.197, 10}, {70.147, 20}, {60, 30}};
  CHECK(pareto_front(designs) == std::vector<bool>{true, true, true});
  CHECK(pareto_front(designs, 0.01) == std::vector<bool>{true, false, true});
}

TEST_CASE("A front with a tolerance always has a design") {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<Design> designs(1 + random() % 20);
    for (Design& design : designs)
      design = {1 + 0.004 * static_cast<double>(random() % 20),
                1 + 0.004 * static_cast<double>(random() % 20)};
    const std::vector<bool> front = pareto_front(designs, 0.01);
    CHECK(std::count(front.begin(), front.end(), true) > 0);
  }
}

TEST_CASE("Ties collapse to the smallest design, with their spread") {
  const std::vector<Design> designs{{20.01, 10}, {20, 10.02}, {20, 40}, {30, 5}};
  const auto ties = ties_of(designs, {true, true, false, true}, 0.01);
  REQUIRE(ties.size() == 2);
  CHECK(ties[0].best == 1);
  CHECK(ties[0].others == std::vector<std::size_t>{0});
  CHECK(ties[0].spread == Approx(0.002));
  CHECK(ties[1].best == 3);
  CHECK(ties[1].others.empty());
}
