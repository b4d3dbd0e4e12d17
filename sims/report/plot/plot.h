// Axes with ticks, a grid and labels, marks on them, legends and heat colours.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sims/report/plot/palette.h"
#include "sims/report/plot/scale.h"
#include "sims/report/plot/svg.h"

namespace espalier::report {

struct Axis {
  std::string label;  // with its unit
  ScaleKind kind = ScaleKind::linear;
  AxisRange range;
  std::function<std::string(double)> text = {};  // of a tick; empty: see tick_texts()
  // Y axis: width of the row names that are shown instead of ticks.
  double names = 0;
};

// The constructor draws the axes. Use x() and y() to place data afterwards.
class Plot {
 public:
  // `bottom`: free space below the label of the x axis, for a legend.
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

// The approximate width of a text.
[[nodiscard]] double label_width(const std::string& text);

struct SeriesLook {
  std::size_t look = 0;  // see look_of_series(); class c0 and so on of the style sheet
  bool dashed = false;   // with hollow marks
  std::optional<std::size_t> mark = std::nullopt;  // see mark_of_series(); default: `look`
};

void draw_mark(Svg& svg, double x, double y, const SeriesLook& look, const std::string& tip = {});
// Draws a line through the points.
void draw_line(Svg& svg, const std::vector<std::pair<double, double>>& points,
               const std::string& classes);

struct LegendEntry {
  std::string label;
  SeriesLook look;
  bool is_bound = false;  // drawn dotted, without a mark
};
// The height of the legend in a picture of this width.
[[nodiscard]] double legend_height(const std::vector<LegendEntry>& entries, double width);
// Draws the legend from `top` downwards, over the picture's width.
void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, double top);

inline constexpr std::size_t kHeatLevels = 10;

// The level of a part from 0 to 1, clamped.
[[nodiscard]] std::size_t heat_level(double part);
[[nodiscard]] std::string heat_class(double part);

// Draws the key: a row of the colours with the values at both ends.
inline constexpr double kHeatKeyHeight = 34;
void draw_heat_key(Svg& svg, double x, double y, const std::string& label);

}  // namespace espalier::report
