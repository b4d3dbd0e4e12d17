// Axes with ticks, a grid and labels, and marks on them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sims/report/plot/scale.h"
#include "sims/report/plot/svg.h"

namespace espalier::report {

struct Axis {
  std::string label;  // with its unit
  ScaleKind kind = ScaleKind::linear;
  AxisRange range;
  std::function<std::string(double)> text;  // of a tick
  double names = 0;  // y axis: width of names of rows that stand in place of ticks
};

// Draws the frame into the picture when it is made; what it says of places is for what follows.
class Plot {
 public:
  // `bottom`: room kept free below the axis' label, for a legend.
  Plot(Svg& svg, const Axis& x, const Axis& y, double bottom = 0);

  [[nodiscard]] double x(double value) const { return x_(value); }
  [[nodiscard]] double y(double value) const { return y_(value); }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double right() const { return right_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] double bottom() const { return bottom_; }

 private:
  double left_;
  double right_;
  double top_;
  double bottom_;
  Scale x_;
  Scale y_;
};

// Room that a text of a tick or a legend takes, roughly.
[[nodiscard]] double label_width(const std::string& text);

// Series are told apart by colour (class c0 to c7) and mark, so that either is enough.
inline constexpr std::size_t kNumLooks = 8;
// An algorithm has the same look everywhere; kNumLooks for names that have none.
[[nodiscard]] std::size_t look_of_algorithm(const std::string& algorithm);

struct SeriesLook {
  std::size_t look = 0;
  bool dashed = false;  // and its marks hollow
};

void draw_mark(Svg& svg, double x, double y, const SeriesLook& look, const std::string& tip = {});
// Through the points, in their order.
void draw_line(Svg& svg, const std::vector<std::pair<double, double>>& points,
               const std::string& classes);

struct LegendEntry {
  std::string label;
  SeriesLook look;
  bool is_bound = false;  // a line of its own kind
};
// Height that draw_legend takes of a picture of that width.
[[nodiscard]] double legend_height(const std::vector<LegendEntry>& entries, double width);
// From `top` downwards, over the picture's width.
void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, double top);

}  // namespace espalier::report
