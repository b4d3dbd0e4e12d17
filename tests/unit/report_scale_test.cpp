#include "sims/report/plot/scale.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <set>

#include "sims/report/plot/text.h"

using namespace espalier::report;

TEST_CASE("Scales lead from values to places, forwards and backwards") {
  const Scale linear(ScaleKind::linear, 0, 10, 100, 200);
  CHECK(linear(0) == 100);
  CHECK(linear(2.5) == 125);
  const Scale upwards(ScaleKind::log2, 1, 16, 300, 100);
  CHECK(upwards(1) == Approx(300));
  CHECK(upwards(4) == Approx(200));
  CHECK(upwards(16) == Approx(100));
  CHECK(Scale(ScaleKind::log10, 5, 5, 0, 10)(5) == 5);
}

TEST_CASE("Linear axes have round ticks that enclose all values") {
  const AxisRange range = round_range(ScaleKind::linear, 0, 47, 5);
  CHECK(range.low == 0);
  CHECK(range.high == 50);
  CHECK(range.ticks == std::vector<double>{0, 10, 20, 30, 40, 50});
}

TEST_CASE("An axis of one value has that value inside") {
  for (const double value : {0.0, 3.0, 1e-9, 7e12}) {
    const AxisRange range = round_range(ScaleKind::linear, value, value, 5);
    CHECK(range.low <= value);
    CHECK(range.high > value);
    CHECK(range.ticks.size() >= 2);
    CHECK(range.ticks.size() <= 12);
  }
}

TEST_CASE("Axes of sizes have powers of two as ticks, and leave some out where there are many") {
  CHECK(power_range(1024, 8192, 5).ticks == std::vector<double>{1024, 2048, 4096, 8192});
  CHECK(power_range(1, 1024, 6).ticks == std::vector<double>{1, 4, 16, 64, 256, 1024});
  CHECK(power_range(1500, 1700, 5).ticks == std::vector<double>{1500, 1700});
  CHECK(power_range(1500, 1500, 5).ticks == std::vector<double>{1500});
}

TEST_CASE("Any range gets a few ascending ticks inside, and holds all its values") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> exponent(-12, 12);
  for (int round = 0; round < 3000; ++round) {
    double low = std::pow(10, exponent(random));
    double high = std::pow(10, exponent(random));
    if (low > high) std::swap(low, high);
    for (const ScaleKind kind : {ScaleKind::linear, ScaleKind::log2, ScaleKind::log10}) {
      const AxisRange range = round_range(kind, low, high, 5);
      CAPTURE(low, high, static_cast<int>(kind));
      CHECK(range.low <= low * (1 + 1e-9));
      CHECK(range.high >= high * (1 - 1e-9));
      REQUIRE(!range.ticks.empty());
      CHECK(range.ticks.size() <= 26);
      for (std::size_t t = 0; t < range.ticks.size(); ++t) {
        CHECK(range.ticks[t] >= range.low * (1 - 1e-9));
        CHECK(range.ticks[t] <= range.high * (1 + 1e-9));
        if (t > 0) CHECK(range.ticks[t] > range.ticks[t - 1]);
      }
    }
  }
}

TEST_CASE("Values that spread far get a logarithmic axis") {
  CHECK(suited_scale(1, 10) == ScaleKind::linear);
  CHECK(suited_scale(1, 11) == ScaleKind::log10);
  CHECK(suited_scale(1, 100) == ScaleKind::log10);
  CHECK(suited_scale(0, 100) == ScaleKind::linear);
}

TEST_CASE("The texts of ticks have the digits that their step needs") {
  CHECK(tick_texts({59.5, 59.505, 59.51}) == std::vector<std::string>{"59.5", "59.505", "59.51"});
  CHECK(tick_texts({59.505, 59.515}) == std::vector<std::string>{"59.505", "59.515"});
  CHECK(tick_texts({0, 1000, 2000}) == std::vector<std::string>{"0", "1000", "2000"});
}

TEST_CASE("No two ticks of an axis have the same text") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-9, 9);
  std::uniform_real_distribution<double> span(-6, 2);
  for (int round = 0; round < 3000; ++round) {
    const double low = std::pow(10, exponent(random));
    const double high = low * (1 + std::pow(10, span(random)));
    for (const ScaleKind kind : {ScaleKind::linear, ScaleKind::log10}) {
      const AxisRange range = round_range(kind, low, high, 5);
      const auto texts = tick_texts(range.ticks);
      CAPTURE(low, high);
      CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == range.ticks.size());
    }
  }
}
