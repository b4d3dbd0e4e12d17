#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr double kSizeHeight = 300;
constexpr std::size_t kMostSeries = 8;  // in one picture

struct Series {
  std::string label;
  SeriesLook look;
  std::vector<std::size_t> points;  // ascending in size
};

struct SizePanel {
  std::string title;
  std::vector<std::size_t> points;
};

double size_of(const ReportPoint& point) { return *number_of(point, "size_bytes"); }

bool is_on_curve(const ReportPoint& point) {
  return point.state == ReportPoint::State::verified && !point.result.contains("network") &&
         number_of(point, "bandwidth_GBps").value_or(0) > 0 &&
         number_of(point, "size_bytes").value_or(0) > 0;
}

// Keys that the title or the axis of a panel already shows.
std::set<std::string> said_elsewhere(const ReportView& view) {
  std::set<std::string> keys{kSizeKey, "collective.op"};
  for (const std::string& key : view.differences().keys) {
    if (key.rfind("system.topology", 0) == 0) keys.insert(key);
  }
  return keys;
}

template <class Name>
std::vector<SizePanel> split(const std::vector<std::size_t>& points, const Name& name) {
  std::vector<SizePanel> panels;
  for (const std::size_t i : points) {
    const std::string title = name(i);
    const auto found = std::find_if(panels.begin(), panels.end(),
                                    [&](const SizePanel& panel) { return panel.title == title; });
    if (found != panels.end()) {
      found->points.push_back(i);
    } else {
      panels.push_back({title, {i}});
    }
  }
  return panels;
}

std::vector<SizePanel> panels_of(const ReportView& view, const std::vector<std::size_t>& points) {
  const auto systems = split(points, [&](std::size_t i) {
    std::string title =
        fmt::format("{}, {}", text_of(view.point(i), "topology"), text_of(view.point(i), "op"));
    add_word(title, view.facet_of(i));
    return title;
  });
  std::vector<SizePanel> panels;
  for (const SizePanel& system : systems) {
    const auto keys = view.telling_keys(system.points, said_elsewhere(view));
    const auto label = [&](std::size_t i) { return view.describe(i, keys); };
    if (split(system.points, label).size() <= kMostSeries) {
      panels.push_back(system);
      continue;
    }
    // Too many series for one picture: draws a picture for each setting other than the algorithm.
    std::vector<std::string> others;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(others),
                 [](const auto& key) { return key != kAlgorithmKey && key != kModeKey; });
    for (SizePanel& panel :
         split(system.points, [&](std::size_t i) { return view.describe(i, others); })) {
      panel.title = panel.title.empty() ? system.title : system.title + ", " + panel.title;
      panels.push_back(std::move(panel));
    }
  }
  const auto has_curve = [&](const SizePanel& panel) {
    return split(panel.points, [&](std::size_t i) {
             return number_text(size_of(view.point(i)));
           }).size() > 1;
  };
  panels.erase(std::remove_if(panels.begin(), panels.end(),
                              [&](const SizePanel& panel) { return !has_curve(panel); }),
               panels.end());
  return panels;
}

std::vector<Series> series_of(const ReportView& view, const SizePanel& panel) {
  const auto keys = view.telling_keys(panel.points, said_elsewhere(view));
  std::vector<Series> series;
  std::set<std::tuple<std::size_t, Mark, bool>> taken;
  for (SizePanel& part :
       split(panel.points, [&](std::size_t i) { return view.describe(i, keys); })) {
    const std::size_t first = part.points.front();
    Series one;
    one.label = part.title.empty() ? text_of(view.point(first), "algorithm") : part.title;
    one.look = view.look_of(first);
    one.look.dashed = text_of(view.point(first), "flow_control") == "packet";
    // Further lines of a colour take other marks.
    std::size_t& mark = one.look.mark.emplace(one.look.mark.value_or(one.look.look));
    const std::size_t own = mark;
    while (mark < own + kNumLooks &&
           !taken.emplace(one.look.look % kNumLooks, mark_of_series(mark), one.look.dashed).second)
      ++mark;
    one.points = std::move(part.points);
    std::stable_sort(one.points.begin(), one.points.end(), [&](std::size_t a, std::size_t b) {
      return size_of(view.point(a)) < size_of(view.point(b));
    });
    series.push_back(std::move(one));
  }
  return series;
}

struct Bound {
  std::map<double, double> by_size;  // the highest bound of the points, GB/s
  bool differs = false;
};

Bound bound_of(const ReportView& view, const SizePanel& panel) {
  Bound bound;
  for (const std::size_t i : panel.points) {
    const auto ns = number_of(view.point(i), "bound_ns");
    if (!ns || *ns <= 0) continue;
    const double size = size_of(view.point(i));
    const auto [found, is_new] = bound.by_size.emplace(size, size / *ns);
    bound.differs = bound.differs || (!is_new && found->second != size / *ns);
    found->second = std::max(found->second, size / *ns);
  }
  return bound;
}

std::string draw_size_panel(const ReportView& view, const SizePanel& panel) {
  const std::vector<Series> series = series_of(view, panel);
  const Bound bound = bound_of(view, panel);
  double smallest = size_of(view.point(panel.points.front()));
  double largest = smallest;
  double fastest = 0;
  double slowest = *number_of(view.point(panel.points.front()), "bandwidth_GBps");
  for (const std::size_t i : panel.points) {
    smallest = std::min(smallest, size_of(view.point(i)));
    largest = std::max(largest, size_of(view.point(i)));
    const double rate = *number_of(view.point(i), "bandwidth_GBps");
    slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
  }
  for (const auto& [size, rate] : bound.by_size) {
    slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
  }

  std::vector<LegendEntry> legend;
  for (const Series& one : series) legend.push_back({one.label, one.look, false});
  if (!bound.by_size.empty()) {
    legend.push_back({bound.differs ? "proven bound, the highest" : "proven bound", {}, true});
  }
  const double below = legend_height(legend, kPictureWidth);
  Svg svg(kPictureWidth, kSizeHeight + below, "Bandwidth against size: " + panel.title,
          fmt::format("{} from {} to {}", count_text(series.size(), "line"),
                      bytes_text(static_cast<std::uint64_t>(smallest)),
                      bytes_text(static_cast<std::uint64_t>(largest))));
  const Axis x{"size", ScaleKind::log2, power_range(smallest, largest, 5),
               [](double v) { return bytes_text(static_cast<std::uint64_t>(v)); }};
  const ScaleKind kind = suited_scale(slowest, fastest);
  const Axis y{"bandwidth, GB/s", kind,
               round_range(kind, kind == ScaleKind::linear ? 0 : slowest, fastest, 5)};
  const Plot plot(svg, x, y, below);
  std::vector<std::pair<double, double>> places;
  for (const auto& [size, rate] : bound.by_size) places.emplace_back(plot.x(size), plot.y(rate));
  draw_line(svg, places, "bound");
  for (const Series& one : series) {
    places.clear();
    const auto rate = [&](std::size_t i) { return *number_of(view.point(i), "bandwidth_GBps"); };
    for (const std::size_t i : one.points)
      places.emplace_back(plot.x(size_of(view.point(i))), plot.y(rate(i)));
    draw_line(
        svg, places,
        fmt::format("line c{}{}", one.look.look % kNumLooks, one.look.dashed ? " dashed" : ""));
    for (std::size_t p = 0; p < one.points.size(); ++p) {
      const std::size_t i = one.points[p];
      draw_mark(svg, places[p].first, places[p].second, one.look,
                fmt::format("{}: {}, {}: {} GB/s", name_of_run(i), one.label,
                            bytes_text(static_cast<std::uint64_t>(size_of(view.point(i)))),
                            number_text(rate(i))));
    }
  }
  draw_legend(svg, legend, kSizeHeight + 4);
  return figure_html(panel.title, svg);
}

// The numbers of a picture: a row for each size, a column for each line.
std::string size_table(const ReportView& view, const SizePanel& panel) {
  const std::vector<Series> series = series_of(view, panel);
  std::map<double, std::map<std::size_t, std::size_t>> runs;  // by size and series
  HtmlTable table;
  table.add_column("size", true);
  for (std::size_t s = 0; s < series.size(); ++s) {
    table.add_column(series[s].label + ", GB/s", true);
    for (const std::size_t i : series[s].points) runs[size_of(view.point(i))][s] = i;
  }
  for (const auto& [size, of_series] : runs) {
    table.begin_row();
    table.add_text(bytes_text(static_cast<std::uint64_t>(size)));
    for (std::size_t s = 0; s < series.size(); ++s) {
      const auto found = of_series.find(s);
      table.add_text(found == of_series.end()
                         ? ""
                         : number_text(*number_of(view.point(found->second), "bandwidth_GBps")));
    }
  }
  return table.str("Bandwidth by size");
}

}  // namespace

Section bandwidth_section(const ReportView& view) {
  Section section{"bandwidth", "Bandwidth against size", {}, {}};
  const std::vector<std::size_t> points = view.points_where(is_on_curve);
  const std::vector<SizePanel> panels = panels_of(view, points);
  if (panels.empty()) {
    section.why_not = points.empty() ? "no verified collective has a size and a bandwidth"
                                     : "no system was run with more than one size";
    return section;
  }
  section.html =
      paragraph_html(
          "Bandwidth is the size of the collective divided by its time. No algorithm on the same "
          "network can exceed the proven bound.") +
      beside_html(
          first_figures_html(panels.size(), "all numbers are in the table of runs",
                             [&](std::size_t p) { return draw_size_panel(view, panels[p]); }),
          panels.size() == 1 ? size_table(view, panels.front()) : std::string(),
          panels.size() == 1);
  return section;
}

}  // namespace espalier::report
