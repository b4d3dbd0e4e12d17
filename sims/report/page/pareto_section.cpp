#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sims/report/page/area.h"
#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr double kFrontHeight = 320;

struct FrontPanel {
  std::string workload;
  std::vector<std::size_t> runs;
  std::vector<Design> designs;  // of the runs: mm2, us
  std::vector<bool> on_front;
  std::vector<Tie> front;  // indices into `runs`
};

std::vector<FrontPanel> panels_of(const ReportView& view) {
  std::vector<FrontPanel> panels;
  for (std::size_t i = 0; i < view.data().points.size(); ++i) {
    const ReportPoint& point = view.point(i);
    const auto area = number_of(point, "area.system_mm2");
    const auto time = time_ns_of(point);
    const bool counts =
        point.state == ReportPoint::State::verified && area && time && *area > 0 && *time > 0;
    if (!counts) continue;
    const std::string& workload = view.workload(i);
    auto found = std::find_if(panels.begin(), panels.end(),
                              [&](const FrontPanel& panel) { return panel.workload == workload; });
    if (found == panels.end()) found = panels.insert(panels.end(), {workload, {}, {}, {}, {}});
    found->runs.push_back(i);
    found->designs.push_back({*area, *time * 1e-3});
  }
  const double tolerance = view.options().tolerance;
  for (FrontPanel& panel : panels) {
    panel.on_front = pareto_front(panel.designs, tolerance);
    panel.front = ties_of(panel.designs, panel.on_front, tolerance);
  }
  return panels;
}

bool has_choice(const FrontPanel& panel) {
  const Design& first = panel.designs.front();
  return std::any_of(panel.designs.begin(), panel.designs.end(), [&](const Design& design) {
    return design.cost != first.cost || design.time != first.time;
  });
}

// A logarithmic axis above a factor of ten, a linear one from zero below it. Where the values
// differ by less than half of the largest one, the axis begins at the values and its label says so.
Axis axis_of(const std::string& label, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const ScaleKind kind = suited_scale(*low, *high);
  if (kind != ScaleKind::linear) return {label, kind, round_range(kind, *low, *high, 5)};
  if (*low < *high / 2 || *low == *high)
    return {label, kind, round_range(kind, 0, *high * 1.02, 5)};
  // Leaves room around the outermost marks.
  const double margin = (*high - *low) * 0.04;
  const AxisRange range = round_range(kind, std::max(0.0, *low - margin), *high + margin, 5);
  return {
      range.low > 0 ? fmt::format("{} (from {})", label, tick_texts(range.ticks).front()) : label,
      kind, range};
}

void draw_front(Svg& svg, const Plot& plot, std::vector<Design> front) {
  std::sort(front.begin(), front.end(),
            [](const Design& a, const Design& b) { return a.cost < b.cost; });
  std::vector<std::pair<double, double>> stairs;
  double y = plot.top();
  for (const Design& design : front) {
    stairs.emplace_back(plot.x(design.cost), y);
    y = plot.y(design.time);
    stairs.emplace_back(plot.x(design.cost), y);
  }
  stairs.emplace_back(plot.right(), y);
  draw_line(svg, stairs, "front");
}

// Writes labels beside marks, but no label that would overlap another one.
class Labels {
 public:
  void draw(Svg& svg, double x, double y, const std::string& words) {
    for (const double below : {-6.0, 17.0}) {
      const Label label{x + 6, x + 6 + label_width(words), y + below};
      const bool taken = std::any_of(drawn_.begin(), drawn_.end(), [&](const Label& other) {
        return label.left < other.right && other.left < label.right &&
               std::abs(label.line - other.line) < 12;
      });
      if (taken || label.right > svg.width()) continue;
      drawn_.push_back(label);
      return svg.text(label.left, label.line, words, "note");
    }
  }

 private:
  struct Label {
    double left;
    double right;
    double line;
  };
  std::vector<Label> drawn_;
};

struct Axes {
  Axis area;
  Axis time;
};

Axes axes_of(const std::vector<FrontPanel>& panels) {
  std::vector<double> areas;
  std::vector<double> times;
  for (const FrontPanel& panel : panels) {
    for (const Design& design : panel.designs) {
      areas.push_back(design.cost);
      times.push_back(design.time);
    }
  }
  return {axis_of("area of the system, mm\u00b2", areas), axis_of("time, \u00b5s", times)};
}

std::string draw_front_panel(const ReportView& view, const FrontPanel& panel, const Axes& axes) {
  std::vector<Design> front;
  for (const Tie& tie : panel.front) front.push_back(panel.designs[tie.best]);
  const std::vector<LegendEntry> legend = legend_of(view, panel.runs);
  const double below = legend.size() > 1 ? legend_height(legend, kPictureWidth) : 0;
  Svg svg(kPictureWidth, kFrontHeight + below, "Area against time: " + panel.workload,
          fmt::format("{} of {} are on the front", front.size(),
                      count_text(panel.designs.size(), "design")));
  const Plot plot(svg, axes.area, axes.time, below);
  draw_front(svg, plot, front);
  Labels labels;
  // Marks of the front are drawn last, on top.
  for (const bool on_front : {false, true}) {
    for (std::size_t d = 0; d < panel.designs.size(); ++d) {
      if (panel.on_front[d] != on_front) continue;
      const std::size_t i = panel.runs[d];
      SeriesLook look = view.look_of(i);
      look.dashed = !on_front;
      std::string tip = fmt::format(
          "{}{}: {}: {} mm\u00b2, {} \u00b5s", name_of_run(i), on_front ? "" : ", dominated",
          view.describe(i), number_text(panel.designs[d].cost), number_text(panel.designs[d].time));
      add_word(tip, clock_problem(view.point(i)));
      draw_mark(svg, plot.x(panel.designs[d].cost), plot.y(panel.designs[d].time), look, tip);
    }
  }
  for (const Tie& tie : panel.front) {
    const Design& design = panel.designs[tie.best];
    const std::size_t run = panel.runs[tie.best] + 1;
    labels.draw(svg, plot.x(design.cost), plot.y(design.time),
                tie.others.empty() ? fmt::format("{}", run)
                                   : fmt::format("{} (+{})", run, tie.others.size()));
  }
  if (below > 0) draw_legend(svg, legend, kFrontHeight + 4);
  return figure_html(panel.workload, svg);
}

std::string front_table(const ReportView& view, const std::vector<FrontPanel>& panels) {
  HtmlTable table;
  table.add_columns({"run"}, false);
  if (panels.size() > 1) table.add_column("workload", false);
  table.add_column("settings", false);
  table.add_columns({"area, mm\u00b2", "time, \u00b5s"}, true);
  const auto any = [&](const auto& holds) {
    return std::any_of(panels.begin(), panels.end(), [&](const FrontPanel& panel) {
      return std::any_of(panel.front.begin(), panel.front.end(),
                         [&](const Tie& tie) { return holds(panel, tie); });
    });
  };
  const bool has_ties = any([](const FrontPanel&, const Tie& tie) { return !tie.others.empty(); });
  const bool has_slow = any([&](const FrontPanel& panel, const Tie& tie) {
    return !clock_problem(view.point(panel.runs[tie.best])).empty();
  });
  if (has_ties) table.add_column("designs as good", false);
  if (has_slow) table.add_column("clock", false);
  for (const FrontPanel& panel : panels) {
    for (const Tie& tie : panel.front) {
      const std::size_t i = panel.runs[tie.best];
      table.begin_row();
      table.add_cell(link_to_run(i));
      if (panels.size() > 1) table.add_text(panel.workload);
      table.add_text(view.describe(i));
      table.add_text(number_text(panel.designs[tie.best].cost));
      table.add_text(number_text(panel.designs[tie.best].time));
      if (has_ties)
        table.add_text(tie.others.empty()
                           ? ""
                           : fmt::format("{} designs within {}", tie.others.size() + 1,
                                         spread_text(tie.spread)));
      if (has_slow) table.add_text(clock_problem(view.point(i)));
    }
  }
  return table.str("Designs on the front, by area");
}

}  // namespace

Section pareto_section(const ReportView& view) {
  Section section{"pareto", "Area against time", {}, {}};
  std::vector<FrontPanel> panels = panels_of(view);
  if (panels.empty()) {
    section.why_not = "no verified result has an area and a time";
    return section;
  }
  const Axes shared = axes_of(panels);
  panels.erase(std::remove_if(panels.begin(), panels.end(),
                              [](const FrontPanel& panel) { return !has_choice(panel); }),
               panels.end());
  if (panels.empty()) {
    section.why_not = "no two designs with the same workload differ in area or time";
    return section;
  }
  const bool has_facets = !view.options().facet.empty();
  const std::string pictures =
      first_figures_html(panels.size(), "all fronts are in the table", [&](std::size_t p) {
        return draw_front_panel(view, panels[p], has_facets ? shared : axes_of({panels[p]}));
      });
  section.html =
      paragraph_html(fmt::format(
          "Designs with filled marks are on the Pareto front of their workload: no other design is "
          "better in area or time without being worse in the other. Differences up to {} count as "
          "none (--tolerance), because the cost model gives two significant digits. Hollow marks "
          "are dominated designs. A number is the number of the run; (+3) means three more designs "
          "as good as that run.{}",
          number_text(100 * view.options().tolerance) + " %",
          has_facets ? " All pictures have the same axes." : "")) +
      beside_html(pictures, front_table(view, panels), panels.size() == 1);
  return section;
}

}  // namespace espalier::report
