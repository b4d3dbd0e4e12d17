#include "sims/report/plot/palette.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

#include "alg/algorithm.h"
#include "sims/report/plot/style.h"

using namespace espalier::report;
using Catch::Matchers::Contains;

TEST_CASE("Every look of the palette has a colour and a mark of its own") {
  std::set<std::string> colours;
  std::set<Mark> marks;
  for (std::size_t look = 0; look < kNumLooks; ++look) {
    colours.insert(look_of_series(look).colour);
    marks.insert(look_of_series(look).mark);
  }
  CHECK(colours.size() == kNumLooks);
  CHECK(marks.size() == kNumLooks);
}

TEST_CASE("The palette has a place for every algorithm that asks for one") {
  std::set<std::size_t> taken;
  for (const espalier::Algorithm& algorithm : espalier::algorithms()) {
    CAPTURE(algorithm.name);
    const std::size_t look = look_of_algorithm(algorithm.name);
    if (algorithm.look == espalier::AlgorithmRow::kNoLook) {
      CHECK(look == kNumLooks);
    } else {
      CHECK(look < kNumLooks);
      CHECK(taken.insert(look).second);
    }
  }
  CHECK(look_of_algorithm("no such algorithm") == kNumLooks);
}

TEST_CASE("Contrast is that of WCAG 2") {
  CHECK(contrast("#000000", "#ffffff") == Approx(21));
  CHECK(contrast("#777777", "#ffffff") == Approx(4.48).margin(0.01));
  CHECK(contrast("#ffffff", "#ffffff") == Approx(1));
}

TEST_CASE("A page draws the figures' colours, changed only where they would be faint on it") {
  const std::string css = style_sheet();
  for (std::size_t look = 0; look < kNumLooks; ++look) {
    const std::string colour = look_of_series(look).colour;
    CAPTURE(colour);
    for (const std::string& page : std::vector<std::string>{"#ffffff", "#14181c"}) {
      const double wanted = page == "#ffffff" ? 3 : 6;
      const std::string drawn = colour_on_page(colour, page);
      CHECK(contrast(drawn, page) >= wanted);
      if (contrast(colour, page) >= wanted) CHECK(drawn == colour);
      CHECK_THAT(css, Contains("--c" + std::to_string(look) + ": " + drawn + ";"));
    }
  }
}
