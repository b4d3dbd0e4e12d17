// The one palette of pages and figures: the colour and the mark of a series.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace espalier::report {

enum class Mark {
  circle,
  square,
  triangle,
  diamond,
  down_triangle,
  left_triangle,
  pentagon,
  cross,
  bar
};

struct Look {
  const char* colour;  // "#rrggbb", as figures draw it
  Mark mark;
};

inline constexpr std::size_t kNumLooks = 9;

// The look of a series by its number. Looks repeat after kNumLooks.
[[nodiscard]] const Look& look_of_series(std::size_t number);
// The index of the algorithm's look, the same in every picture; kNumLooks if it has none.
[[nodiscard]] std::size_t look_of_algorithm(const std::string& name);
// The mark of a number that may exceed kNumLooks: the marks shift, so that no two of the first
// kNumLooks^2 numbers have both colour and mark in common.
[[nodiscard]] Mark mark_of_series(std::size_t number);
// A number for every algorithm, for look_of_series() and mark_of_series(). An algorithm of the
// register has the same number everywhere; programs of users get the numbers that are left, in the
// order of `names`.
[[nodiscard]] std::map<std::string, std::size_t> numbers_of_algorithms(
    const std::vector<std::string>& names);

// Mixes the colour with white: 0 keeps the colour, 1 gives white.
[[nodiscard]] std::string tint(const std::string& colour, double white);
// Mixes the colour with black.
[[nodiscard]] std::string shade(const std::string& colour, double black);

// WCAG 2 contrast of two colours, 1 to 21.
[[nodiscard]] double contrast(const std::string& a, const std::string& b);
// Shades `colour` on a light page, or tints it on a dark page, just enough to give lines and marks
// sufficient contrast.
[[nodiscard]] std::string colour_on_page(const std::string& colour, const std::string& page);

}  // namespace espalier::report
