#include <fmt/format.h>

#include <algorithm>

#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kActivityRow = 52;
constexpr std::size_t kMostRuns = 12;

struct DimensionActivity {
  std::string name;
  std::vector<double> parts;  // activity in each period
};

struct Activity {
  double period_us = 0;
  std::vector<DimensionActivity> dimensions;
};

// Returns no dimensions unless the result's activity has the documented form.
Activity activity_of(const ReportPoint& point) {
  Activity activity;
  const Json& json = point.result.at("activity");
  if (!json.contains("period_ns") || !json.at("period_ns").is_number()) return activity;
  activity.period_us = json.at("period_ns").get<double>() * 1e-3;
  if (activity.period_us <= 0) return activity;
  for (const auto& [name, list] : json.items()) {
    if (!list.is_array() || list.empty()) continue;
    DimensionActivity dimension{name, {}};
    for (const Json& part : list)
      dimension.parts.push_back(part.is_number() ? std::clamp(part.get<double>(), 0.0, 1.0) : 0.0);
    activity.dimensions.push_back(std::move(dimension));
  }
  return activity;
}

void draw_dimension(Svg& svg, const Plot& plot, const Activity& activity,
                    const DimensionActivity& dimension, std::size_t look, double bottom,
                    double end) {
  constexpr double kTall = kActivityRow - 10;
  std::string area = move_to(plot.x(0), bottom);
  double time = 0;
  for (const double part : dimension.parts) {
    const double y = bottom - kTall * part;
    area += line_to(plot.x(std::min(time, end)), y);
    time += activity.period_us;
    area += line_to(plot.x(std::min(time, end)), y);
  }
  area += line_to(plot.x(std::min(time, end)), bottom) + "Z";
  svg.line(plot.left(), bottom - kTall, plot.right(), bottom - kTall, "grid");
  double sum = 0;
  for (const double part : dimension.parts) sum += part;
  svg.path(area, fmt::format("area c{}", look % kNumLooks),
           fmt::format("{}: busy {} of the time, mean of {}", dimension.name,
                       percent_text(sum / static_cast<double>(dimension.parts.size())),
                       count_text(dimension.parts.size(), "period")));
  svg.line(plot.left(), bottom, plot.right(), bottom, "axis");
  svg.text(plot.left() - 6, bottom - kTall / 2 + 4, dimension.name, "tick end");
}

std::string draw_activity(const ReportView& view, std::size_t index, const Activity& activity,
                          double longest) {
  const std::string title = title_of_run(view, index, true);
  const double rows = kActivityRow * static_cast<double>(activity.dimensions.size());
  Svg svg(kPictureWidth, 12 + rows + 44, "Activity of the dimensions, " + title,
          "one row for each dimension; at full height the dimension had a chunk to work on all the "
          "time");
  const Axis x{"time, \u00b5s", ScaleKind::linear, round_range(ScaleKind::linear, 0, longest, 6)};
  double names = 0;
  for (const DimensionActivity& dimension : activity.dimensions)
    names = std::max(names, label_width(dimension.name));
  const Axis y{"", ScaleKind::linear, {0, 1, {}}, number_text, names};
  const Plot plot(svg, x, y);
  const double end = number_of(view.point(index), "time_ns").value_or(longest * 1e3) * 1e-3;
  for (std::size_t d = 0; d < activity.dimensions.size(); ++d) {
    draw_dimension(svg, plot, activity, activity.dimensions[d], d,
                   plot.top() + kActivityRow * static_cast<double>(d + 1), end);
  }
  return figure_html(title, svg);
}

}  // namespace

Section activity_section(const ReportView& view) {
  Section section{"activity", "Dimensions over time", {}, {}};
  const std::vector<std::size_t> runs =
      view.points_where([](const ReportPoint& point) { return point.result.contains("activity"); });
  if (runs.empty()) {
    section.why_not = "no run is a collective on a multi-dimensional system";
    return section;
  }
  const Shown shown =
      chosen_by(view, runs, kMostRuns, [](std::size_t i) { return fmt::format("{}", i); });
  section.html = paragraph_html(
      "Share of the time in which each dimension of the first NPU had a chunk, waiting or in "
      "flight. All pictures of one collective size have the same time axis." +
      what_is_left_out(shown, runs.size()));
  std::vector<std::string> figures;
  for (const std::size_t i : shown.runs) {
    const Activity activity = activity_of(view.point(i));
    if (activity.dimensions.empty()) {
      section.html += paragraph_html(fmt::format(
          "No picture of {}: its activity does not have the expected form.", name_of_run(i)));
      continue;
    }
    double longest = 0;
    for (const std::size_t other : shown.runs) {
      if (view.workload(other) == view.workload(i))
        longest = std::max(longest, number_of(view.point(other), "time_ns").value_or(0) * 1e-3);
    }
    if (longest <= 0) {
      longest = activity.period_us * static_cast<double>(activity.dimensions.front().parts.size());
    }
    figures.push_back(draw_activity(view, i, activity, longest));
  }
  section.html += figures_html(figures);
  return section;
}

}  // namespace espalier::report
