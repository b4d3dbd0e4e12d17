// The colours and marks of a figure's series.
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

// One style for each label, in the order of appearance. Algorithm and flow-control mode choose it
// if they tell all series apart, otherwise the order does.
[[nodiscard]] std::vector<SeriesStyle> series_styles(const Figure& figure);

}  // namespace espalier
