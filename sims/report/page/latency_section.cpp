#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr double kLatencyHeight = 300;
constexpr const char* kLoadKey = "traffic.injection_rate";
constexpr const char* kLoadField = "offered_flits_per_node_cycle";
constexpr const char* kLatencyField = "message_latency_mean_cycles";

struct LoadLine {
  std::string label;
  SeriesLook look;
  std::vector<std::size_t> points;  // ascending in load
};

struct LoadPanel {
  std::string title;
  std::vector<LoadLine> lines;
};

double load_of(const ReportPoint& point) { return *number_of(point, kLoadField); }

bool is_saturated(const ReportPoint& point) {
  const auto saturated = point.result.find("saturated");
  return saturated != point.result.end() && saturated->is_boolean() && saturated->get<bool>();
}

bool has_load(const ReportPoint& point) {
  return point.state == ReportPoint::State::verified && number_of(point, kLoadField) &&
         number_of(point, kLatencyField);
}

LoadPanel panel_of(const ReportView& view, const std::string& title,
                   const std::vector<std::size_t>& points) {
  LoadPanel panel{title, {}};
  const auto keys = view.telling_keys(points, {kLoadKey, "traffic.pattern"});
  std::map<std::string, std::size_t> lines;  // by label
  for (const std::size_t i : points) {
    const std::string label = view.describe(i, keys);
    const auto [line, is_new] = lines.emplace(label, panel.lines.size());
    if (is_new) {
      const std::size_t number = panel.lines.size();
      panel.lines.push_back({label.empty() ? "mean" : label, {number, false, number}, {}});
    }
    panel.lines[line->second].points.push_back(i);
  }
  for (LoadLine& line : panel.lines) {
    std::stable_sort(line.points.begin(), line.points.end(), [&](std::size_t a, std::size_t b) {
      return load_of(view.point(a)) < load_of(view.point(b));
    });
  }
  return panel;
}

// A picture for each network and pattern that was run at several loads.
std::vector<LoadPanel> load_panels(const ReportView& view) {
  std::vector<std::string> titles;
  std::map<std::string, std::vector<std::size_t>> points;
  for (const std::size_t i : view.points_where(has_load)) {
    std::string title = fmt::format("{}, {}", text_of(view.point(i), "topology"),
                                    text_of(view.point(i), "traffic"));
    add_word(title, view.facet_of(i));
    if (points[title].empty()) titles.push_back(title);
    points[title].push_back(i);
  }
  std::vector<LoadPanel> panels;
  for (const std::string& title : titles) {
    std::set<double> loads;
    for (const std::size_t i : points[title]) loads.insert(load_of(view.point(i)));
    if (loads.size() > 1) panels.push_back(panel_of(view, title, points[title]));
  }
  return panels;
}

std::string load_text(double load) { return fmt::format("{:g}", load); }

// "saturates between 0.41 and 0.42": the largest load that is accepted, the smallest that is not.
std::string saturation_text(const ReportView& view, const LoadLine& line) {
  double good = 0;
  for (const std::size_t i : line.points) {
    const double load = load_of(view.point(i));
    if (!is_saturated(view.point(i))) {
      good = load;
      continue;
    }
    return good == 0 ? fmt::format("saturates below {}", load_text(load))
                     : fmt::format("saturates between {} and {}", load_text(good), load_text(load));
  }
  return fmt::format("does not saturate up to {}", load_text(good));
}

std::string draw_panel(const ReportView& view, const LoadPanel& panel) {
  double most_load = 0;
  double most_latency = 0;
  std::vector<LegendEntry> legend;
  std::string caption;
  for (const LoadLine& line : panel.lines) {
    legend.push_back({line.label, line.look, false});
    add_word(caption, panel.lines.size() == 1 ? saturation_text(view, line)
                                              : line.label + " " + saturation_text(view, line));
    for (const std::size_t i : line.points) {
      if (is_saturated(view.point(i))) continue;
      most_load = std::max(most_load, load_of(view.point(i)));
      most_latency = std::max(most_latency, *number_of(view.point(i), kLatencyField));
    }
  }
  if (most_load == 0) return {};
  const double below = legend_height(legend, kPictureWidth);
  Svg svg(kPictureWidth, kLatencyHeight + below, "Latency against load: " + panel.title,
          fmt::format("{} up to {} flits per node and cycle",
                      count_text(panel.lines.size(), "line"), load_text(most_load)));
  const Axis x{"load, flits per node and cycle", ScaleKind::linear,
               round_range(ScaleKind::linear, 0, most_load, 6)};
  const Axis y{"mean latency, cycles", ScaleKind::linear,
               round_range(ScaleKind::linear, 0, most_latency, 5)};
  const Plot plot(svg, x, y, below);
  for (const LoadLine& line : panel.lines) {
    std::vector<std::pair<double, double>> places;
    std::vector<std::size_t> shown;
    for (const std::size_t i : line.points) {
      if (is_saturated(view.point(i))) continue;
      shown.push_back(i);
      places.emplace_back(plot.x(load_of(view.point(i))),
                          plot.y(*number_of(view.point(i), kLatencyField)));
    }
    draw_line(svg, places, fmt::format("line c{}", line.look.look % kNumLooks));
    for (std::size_t p = 0; p < shown.size(); ++p) {
      draw_mark(svg, places[p].first, places[p].second, line.look,
                fmt::format("{}: {}, load {}: {} cycles", name_of_run(shown[p]), line.label,
                            load_text(load_of(view.point(shown[p]))),
                            number_text(*number_of(view.point(shown[p]), kLatencyField))));
    }
  }
  draw_legend(svg, legend, kLatencyHeight + 4);
  return figure_html(panel.title, svg, caption);
}

std::string cycles_text(const ReportPoint& point, const char* field) {
  const auto cycles = number_of(point, field);
  return cycles ? number_text(*cycles) : "";
}

std::string load_table(const ReportView& view, const LoadPanel& panel) {
  HtmlTable table;
  if (panel.lines.size() > 1) table.add_column("design", false);
  table.add_columns({"load", "accepted", "mean", "95 % ±", "p50", "p95", "p99", "max"}, true);
  for (const LoadLine& line : panel.lines) {
    for (const std::size_t i : line.points) {
      const ReportPoint& point = view.point(i);
      table.begin_row();
      if (panel.lines.size() > 1) table.add_text(line.label);
      table.add_text(load_text(load_of(point)));
      table.add_text(cycles_text(point, "accepted_flits_per_node_cycle") +
                     (is_saturated(point) ? ", saturated" : ""));
      for (const char* field : {kLatencyField, "message_latency_half_width_cycles",
                                "message_latency_p50_cycles", "message_latency_p95_cycles",
                                "message_latency_p99_cycles", "message_latency_max_cycles"}) {
        table.add_text(cycles_text(point, field));
      }
    }
  }
  return table.str("Latency in cycles by load, " + panel.title);
}

}  // namespace

Section latency_section(const ReportView& view) {
  Section section{"latency", "Latency against load", {}, {}};
  const std::vector<LoadPanel> panels = load_panels(view);
  if (panels.empty()) {
    section.why_not = "no network was run with traffic of several loads";
    return section;
  }
  std::string tables;
  for (const LoadPanel& panel : panels) tables += load_table(view, panel);
  section.html =
      paragraph_html(
          "Latency is from the generation of a message to its visibility at the receiver, mean "
          "over "
          "the measurement window. Saturated loads are not drawn, because their latency grows with "
          "the length of the run.") +
      beside_html(first_figures_html(panels.size(), "all numbers are in the tables below",
                                     [&](std::size_t p) { return draw_panel(view, panels[p]); }),
                  tables, panels.size() == 1);
  return section;
}

}  // namespace espalier::report
