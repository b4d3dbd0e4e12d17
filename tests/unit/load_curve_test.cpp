// The loads that a curve of latency against load chooses.
#include <catch2/catch.hpp>

#include "sims/study/load_curve.h"

namespace espalier {
namespace {

struct Simulated {
  std::vector<double> loads;
  std::optional<double> saturation;
};

Simulated simulate_network(LoadCurve curve, double accepts) {
  Simulated simulated;
  for (auto loads = curve.next(); !loads.empty(); loads = curve.next()) {
    for (const double load : loads) {
      simulated.loads.push_back(load);
      curve.add(load, load > accepts);
    }
    REQUIRE(simulated.loads.size() < 100);
  }
  simulated.saturation = curve.saturation();
  std::sort(simulated.loads.begin(), simulated.loads.end());
  return simulated;
}

TEST_CASE("A curve finds the saturation load to one percent, whatever it is") {
  for (const double accepts : {0.0037, 0.05, 0.3217, 0.5, 0.9, 1.7, 3.99}) {
    CAPTURE(accepts);
    const Simulated found = simulate_network(LoadCurve({}, 1e-5, 4, false), accepts);
    REQUIRE(found.saturation);
    CHECK(*found.saturation <= accepts);
    CHECK(*found.saturation >= 0.985 * accepts);
    // No load is simulated twice, and some are far below and just below the knee.
    CHECK(std::adjacent_find(found.loads.begin(), found.loads.end()) == found.loads.end());
    CHECK(found.loads.front() < 0.1 * accepts);
    CHECK(std::count_if(found.loads.begin(), found.loads.end(), [&](double load) {
            return load > 0.85 * accepts && load <= accepts;
          }) >= 3);
    CHECK(found.loads.size() < 30);
  }
}

TEST_CASE("A curve ends at the largest load of sources that cannot saturate the network") {
  const Simulated open = simulate_network(LoadCurve({}, 1e-5, 2, false), 5);
  CHECK_FALSE(open.saturation);
  CHECK(open.loads.back() == 2);
  const Simulated closed = simulate_network(LoadCurve({}, 1e-5, 2, true), 5);
  CHECK_FALSE(closed.saturation);
  CHECK(closed.loads.front() <= 0.1);
  CHECK(closed.loads.back() == 2);
}

TEST_CASE("A curve simulates the loads of the user and no others") {
  const Simulated given = simulate_network(LoadCurve({0.3, 0.1, 0.3, 0.2}, 1e-5, 4, false), 0.25);
  CHECK(given.loads == std::vector<double>{0.1, 0.2, 0.3});
  CHECK(given.saturation == 0.2);
  CHECK_FALSE(simulate_network(LoadCurve({0.3}, 1e-5, 4, false), 0.25).saturation);
}

TEST_CASE("A network that accepts nothing ends the search") {
  const Simulated none = simulate_network(LoadCurve({}, 1e-5, 4, false), 0);
  CHECK_FALSE(none.saturation);
  CHECK(none.loads.front() < 1e-3);
}

TEST_CASE("A curve simulates no load at which a window has too few messages") {
  const Simulated curve = simulate_network(LoadCurve({}, 0.07, 4, false), 0.3217);
  CHECK(curve.loads.front() == 0.07);
  CHECK(*curve.saturation >= 0.985 * 0.3217);
  const Simulated none = simulate_network(LoadCurve({}, 0.07, 4, false), 0.05);
  CHECK_FALSE(none.saturation);
  CHECK(none.loads.front() == 0.07);
}

}  // namespace
}  // namespace espalier
