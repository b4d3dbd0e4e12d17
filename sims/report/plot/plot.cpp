#include "sims/report/plot/plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr double kCharacter = 7.4;  // width of a character in the wider fonts
constexpr double kTop = 12;
constexpr double kRight = 14;
constexpr double kBelow = 44;  // ticks and label of the x axis
constexpr double kRow = 20;    // of a legend
constexpr double kSample = 34;
constexpr double kMark = 4.2;

std::vector<std::string> texts_of(const Axis& axis) {
  if (!axis.text) return tick_texts(axis.range.ticks);
  std::vector<std::string> texts;
  for (const double tick : axis.range.ticks) texts.push_back(axis.text(tick));
  return texts;
}

double left_of(const Axis& y) {
  double widest = y.names;
  for (const std::string& text : texts_of(y)) widest = std::max(widest, label_width(text));
  return (y.label.empty() ? 12 : 34) + widest;
}

// Leaves room for the text of the last tick, which is centred on the tick.
double right_of(const Axis& x) {
  const double last = x.range.ticks.empty() ? 0 : label_width(texts_of(x).back());
  return std::max(kRight, last / 2 + 3);
}

void draw_x_axis(Svg& svg, const Axis& axis, const Plot& plot) {
  const std::vector<std::string> texts = texts_of(axis);
  // A text that would touch the text before it is left out; its grid line stays.
  double free_from = 0;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const double x = plot.x(axis.range.ticks[t]);
    const double half = label_width(texts[t]) / 2;
    svg.line(x, plot.top(), x, plot.bottom(), "grid");
    if (x - half < free_from) continue;
    svg.text(x, plot.bottom() + 17, texts[t], "tick middle");
    free_from = x + half + 4;
  }
  svg.text((plot.left() + plot.right()) / 2, plot.bottom() + 37, axis.label, "label middle");
}

void draw_y_axis(Svg& svg, const Axis& axis, const Plot& plot) {
  const std::vector<std::string> texts = texts_of(axis);
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const double y = plot.y(axis.range.ticks[t]);
    svg.line(plot.left(), y, plot.right(), y, "grid");
    svg.text(plot.left() - 7, y + 4, texts[t], "tick end");
  }
  if (!axis.label.empty())
    svg.vertical_text(13, (plot.top() + plot.bottom()) / 2, axis.label, "label");
}

std::string polygon(double x, double y, const std::vector<std::pair<double, double>>& corners) {
  std::string data;
  for (const auto& [dx, dy] : corners) {
    data += data.empty() ? move_to(x + kMark * dx, y + kMark * dy)
                         : line_to(x + kMark * dx, y + kMark * dy);
  }
  return data + "Z";
}

}  // namespace

double label_width(const std::string& text) {
  // Counts characters, not bytes.
  return kCharacter * static_cast<double>(std::count_if(text.begin(), text.end(),
                                                        [](char c) { return (c & 0xC0) != 0x80; }));
}

Plot::Plot(Svg& svg, const Axis& x, const Axis& y, double bottom)
    : left_(left_of(y)),
      right_(svg.width() - right_of(x)),
      top_(kTop),
      bottom_(svg.height() - kBelow - bottom),
      x_(x.kind, x.range.low, x.range.high, left_, right_),
      y_(y.kind, y.range.low, y.range.high, bottom_, top_) {
  draw_x_axis(svg, x, *this);
  draw_y_axis(svg, y, *this);
  svg.line(left_, bottom_, right_, bottom_, "axis");
  svg.line(left_, top_, left_, bottom_, "axis");
}

void draw_mark(Svg& svg, double x, double y, const SeriesLook& look, const std::string& tip) {
  const std::string classes =
      fmt::format("mark c{}{}", look.look % kNumLooks, look.dashed ? " hollow" : "");
  const auto draw = [&](const std::vector<std::pair<double, double>>& corners) {
    svg.path(polygon(x, y, corners), classes, tip);
  };
  switch (mark_of_series(look.mark.value_or(look.look))) {
    case Mark::circle:
      return svg.circle(x, y, kMark, classes, tip);
    case Mark::square:
      return svg.rect(x - kMark + 0.4, y - kMark + 0.4, 2 * kMark - 0.8, 2 * kMark - 0.8, classes,
                      tip);
    case Mark::triangle:
      return draw({{0, -1.25}, {1.2, 0.9}, {-1.2, 0.9}});
    case Mark::diamond:
      return draw({{0, -1.35}, {1.35, 0}, {0, 1.35}, {-1.35, 0}});
    case Mark::down_triangle:
      return draw({{0, 1.25}, {1.2, -0.9}, {-1.2, -0.9}});
    case Mark::left_triangle:
      return draw({{-1.25, 0}, {0.9, 1.2}, {0.9, -1.2}});
    case Mark::pentagon:
      return draw({{0, -1.2}, {1.15, -0.35}, {0.7, 1}, {-0.7, 1}, {-1.15, -0.35}});
    case Mark::cross:
      return draw({{-0.45, -1.2},
                   {0.45, -1.2},
                   {0.45, -0.45},
                   {1.2, -0.45},
                   {1.2, 0.45},
                   {0.45, 0.45},
                   {0.45, 1.2},
                   {-0.45, 1.2},
                   {-0.45, 0.45},
                   {-1.2, 0.45},
                   {-1.2, -0.45},
                   {-0.45, -0.45}});
    case Mark::bar:
      return draw({{-1.2, -0.75}, {1.2, -0.75}, {1.2, 0.75}, {-1.2, 0.75}});
  }
}

void draw_line(Svg& svg, const std::vector<std::pair<double, double>>& points,
               const std::string& classes) {
  if (points.size() < 2) return;
  std::string data;
  for (const auto& [x, y] : points) data += data.empty() ? move_to(x, y) : line_to(x, y);
  svg.path(data, classes);
}

namespace {

struct LegendPlace {
  double x = 0;
  std::size_t row = 0;
};

// Places entries from left to right, in rows.
std::vector<LegendPlace> legend_places(const std::vector<LegendEntry>& entries, double width) {
  std::vector<LegendPlace> places;
  LegendPlace next;
  for (const LegendEntry& entry : entries) {
    const double needed = kSample + label_width(entry.label) + 16;
    if (next.x > 0 && next.x + needed > width) {
      next.x = 0;
      ++next.row;
    }
    places.push_back(next);
    next.x += needed;
  }
  return places;
}

}  // namespace

double legend_height(const std::vector<LegendEntry>& entries, double width) {
  if (entries.empty()) return 0;
  return kRow * static_cast<double>(legend_places(entries, width).back().row + 1) + 6;
}

void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, double top) {
  const auto places = legend_places(entries, svg.width());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double x = places[i].x;
    const double y = top + kRow * (static_cast<double>(places[i].row) + 0.5);
    const SeriesLook& look = entries[i].look;
    svg.line(x, y, x + 26, y,
             entries[i].is_bound
                 ? "bound"
                 : fmt::format("line c{}{}", look.look % kNumLooks, look.dashed ? " dashed" : ""));
    if (!entries[i].is_bound) draw_mark(svg, x + 13, y, look);
    svg.text(x + kSample, y + 4, entries[i].label, "key");
  }
}

std::size_t heat_level(double part) {
  const double level = std::clamp(part, 0.0, 1.0) * static_cast<double>(kHeatLevels);
  return std::min(static_cast<std::size_t>(level), kHeatLevels - 1);
}

std::string heat_class(double part) { return fmt::format("h{}", heat_level(part)); }

void draw_heat_key(Svg& svg, double x, double y, const std::string& label) {
  constexpr double kCell = 15;
  svg.text(x, y + 11, "0 %", "tick");
  for (std::size_t level = 0; level < kHeatLevels; ++level) {
    svg.rect(x + 30 + kCell * static_cast<double>(level), y + 1, kCell, 12,
             fmt::format("cell h{}", level));
  }
  const double end = x + 30 + kCell * static_cast<double>(kHeatLevels);
  svg.text(end + 6, y + 11, "100 %", "tick");
  svg.text(end + 56, y + 11, label, "tick");
}

}  // namespace espalier::report
