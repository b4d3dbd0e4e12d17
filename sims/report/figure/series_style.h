// Colours and marks of series: an algorithm looks the same in every figure.
#pragma once

#include <string>
#include <vector>

#include "sims/report/figure/figure.h"

namespace espalier {

struct SeriesStyle {
  std::string label;
  std::string colour;  // "#rrggbb"
  int mark = 0;        // gnuplot's point type
  double width = 0;    // of the line
  bool dashed = false;
};

// One per label, in the order of their first appearance in the figure. By algorithm and
// flow-control mode where these tell all series apart, else by order.
[[nodiscard]] std::vector<SeriesStyle> series_styles(const Figure& figure);

// Mixed with white: 0 leaves the colour, 1 is white.
[[nodiscard]] std::string tint(const std::string& colour, double white);
// Mixed with black.
[[nodiscard]] std::string shade(const std::string& colour, double black);

}  // namespace espalier
