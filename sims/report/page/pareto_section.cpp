#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "sims/report/page/area.h"
#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr double kFrontHeight = 320;

struct Candidate {
  std::size_t index;
  Design design;  // mm2, us
  bool on_front = false;
};

struct FrontPanel {
  std::string workload;
  std::vector<Candidate> candidates;
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
    if (found == panels.end()) found = panels.insert(panels.end(), {workload, {}});
    found->candidates.push_back({i, {*area, *time * 1e-3}});
  }
  for (FrontPanel& panel : panels) {
    std::vector<Design> designs;
    for (const Candidate& candidate : panel.candidates) designs.push_back(candidate.design);
    const std::vector<bool> front = pareto_front(designs);
    for (std::size_t c = 0; c < front.size(); ++c) panel.candidates[c].on_front = front[c];
  }
  return panels;
}

bool has_choice(const FrontPanel& panel) {
  const Design& first = panel.candidates.front().design;
  return std::any_of(panel.candidates.begin(), panel.candidates.end(), [&](const Candidate& c) {
    return c.design.cost != first.cost || c.design.time != first.time;
  });
}

Axis axis_of(const std::string& label, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const ScaleKind kind = suited_scale(*low, *high);
  // Leaves room around the outermost marks.
  const double margin = kind == ScaleKind::linear ? (*high - *low) * 0.04 : 0;
  return {label, kind, round_range(kind, std::max(0.0, *low - margin), *high + margin, 5),
          number_text};
}

std::vector<LegendEntry> legend_of(const ReportView& view, const FrontPanel& panel,
                                   std::map<std::string, std::size_t>& looks) {
  std::vector<LegendEntry> legend;
  for (const Candidate& candidate : panel.candidates) {
    const std::string algorithm = text_of(view.point(candidate.index), "algorithm");
    if (looks.count(algorithm) != 0) continue;
    looks.emplace(algorithm, looks.size() % kNumLooks);
    legend.push_back({algorithm.empty() ? "run" : algorithm, {looks.at(algorithm), false}, false});
  }
  return legend;
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

std::string draw_front_panel(const ReportView& view, const FrontPanel& panel) {
  std::vector<double> areas;
  std::vector<double> times;
  std::vector<Design> front;
  for (const Candidate& candidate : panel.candidates) {
    areas.push_back(candidate.design.cost);
    times.push_back(candidate.design.time);
    if (candidate.on_front) front.push_back(candidate.design);
  }
  std::map<std::string, std::size_t> looks;
  const std::vector<LegendEntry> legend = legend_of(view, panel, looks);
  const double below = legend.size() > 1 ? legend_height(legend, kPictureWidth) : 0;
  Svg svg(kPictureWidth, kFrontHeight + below, "Area against time: " + panel.workload,
          fmt::format("{} of {} are on the front", front.size(),
                      count_text(panel.candidates.size(), "design")));
  const Plot plot(svg, axis_of("area of the system, mm\u00b2", areas),
                  axis_of("time, \u00b5s", times), below);
  draw_front(svg, plot, front);
  Labels labels;
  // Marks of the front are drawn last, on top.
  for (const bool on_front : {false, true}) {
    for (const Candidate& candidate : panel.candidates) {
      if (candidate.on_front != on_front) continue;
      const std::size_t i = candidate.index;
      const double x = plot.x(candidate.design.cost);
      const double y = plot.y(candidate.design.time);
      draw_mark(
          svg, x, y, {looks.at(text_of(view.point(i), "algorithm")), !on_front},
          fmt::format("{}{}: {}: {} mm\u00b2, {} \u00b5s", name_of_run(i),
                      on_front ? "" : ", dominated", view.describe(i),
                      number_text(candidate.design.cost), number_text(candidate.design.time)));
      if (on_front) labels.draw(svg, x, y, fmt::format("{}", i + 1));
    }
  }
  if (below > 0) draw_legend(svg, legend, kFrontHeight + 4);
  return figure_html(panel.workload, svg);
}

std::string front_table(const ReportView& view, const std::vector<FrontPanel>& panels) {
  HtmlTable table;
  table.add_columns({"run", "workload", "settings"}, false);
  table.add_columns({"area, mm\u00b2", "time, \u00b5s"}, true);
  for (const FrontPanel& panel : panels) {
    std::vector<Candidate> front;
    std::copy_if(panel.candidates.begin(), panel.candidates.end(), std::back_inserter(front),
                 [](const Candidate& candidate) { return candidate.on_front; });
    std::stable_sort(front.begin(), front.end(), [](const Candidate& a, const Candidate& b) {
      return a.design.cost < b.design.cost;
    });
    for (const Candidate& candidate : front) {
      table.begin_row();
      table.add_cell(link_to_run(candidate.index));
      table.add_text(panel.workload);
      table.add_text(view.describe(candidate.index));
      table.add_text(number_text(candidate.design.cost));
      table.add_text(number_text(candidate.design.time));
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
  panels.erase(std::remove_if(panels.begin(), panels.end(),
                              [](const FrontPanel& panel) { return !has_choice(panel); }),
               panels.end());
  if (panels.empty()) {
    section.why_not = "no two designs with the same workload differ in area or time";
    return section;
  }
  section.html =
      paragraph_html(
          "Designs with filled marks are on the Pareto front: no other design is at least as small "
          "and as fast, and better in one of the two. Hollow marks are dominated designs. A number "
          "is the number of the run.") +
      first_figures_html(panels.size(), "all fronts are in the table",
                         [&](std::size_t p) { return draw_front_panel(view, panels[p]); }) +
      front_table(view, panels);
  return section;
}

}  // namespace espalier::report
