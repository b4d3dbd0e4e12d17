// Curves: bandwidth against size, latency against load.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "sims/page/section.h"
#include "sims/page/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostSeries = 8;  // in one picture

void sort_by(const ReportView& view, NumberField field, std::vector<std::size_t>& runs) {
  std::stable_sort(runs.begin(), runs.end(), [&](std::size_t a, std::size_t b) {
    return *number_of(view.point(a), field) < *number_of(view.point(b), field);
  });
}

// The lines of a picture: runs that differ by nothing but the keys in `without`, ascending in
// `field`.
std::vector<Group> lines_of(const ReportView& view, const std::vector<std::size_t>& runs,
                            const std::set<std::string>& without, NumberField field) {
  const auto keys = view.telling_keys(runs, without);
  std::vector<Group> lines = split(runs, [&](std::size_t i) { return view.describe(i, keys); });
  for (Group& line : lines) sort_by(view, field, line.runs);
  return lines;
}

std::size_t count_values(const ReportView& view, const Group& group, NumberField field) {
  std::set<double> values;
  for (const std::size_t i : group.runs) values.insert(*number_of(view.point(i), field));
  return values.size();
}

bool is_on_curve(const ReportPoint& point) {
  return point.state == ReportPoint::State::verified && !has(point, field::network) &&
         number_of(point, field::bandwidth_GBps).value_or(0) > 0 &&
         number_of(point, field::size_bytes).value_or(0) > 0;
}

// Keys that the title or the axis of a picture already shows.
std::set<std::string> said_elsewhere(const ReportView& view) {
  std::set<std::string> keys{kSizeKey, "collective.op"};
  for (const std::string& key : view.differences().keys) {
    if (key.rfind("system.topology", 0) == 0) keys.insert(key);
  }
  return keys;
}

std::vector<Group> size_panels(const ReportView& view, const std::vector<std::size_t>& points) {
  std::vector<Group> panels;
  for (const Group& system : split(points, [&](std::size_t i) {
         std::string title = fmt::format("{}, {}", text_of(view.point(i), field::topology),
                                         text_of(view.point(i), field::op));
         add_word(title, view.facet_of(i));
         return title;
       })) {
    const auto keys = view.telling_keys(system.runs, said_elsewhere(view));
    if (split(system.runs, [&](std::size_t i) { return view.describe(i, keys); }).size() <=
        kMostSeries) {
      panels.push_back(system);
      continue;
    }
    // Too many lines for one picture: draws a picture for each setting other than the algorithm.
    std::vector<std::string> others;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(others),
                 [](const auto& key) { return key != kAlgorithmKey && key != kModeKey; });
    for (Group& panel :
         split(system.runs, [&](std::size_t i) { return view.describe(i, others); })) {
      panel.title = panel.title.empty() ? system.title : system.title + ", " + panel.title;
      panels.push_back(std::move(panel));
    }
  }
  panels.erase(std::remove_if(panels.begin(), panels.end(),
                              [&](const Group& panel) {
                                return count_values(view, panel, field::size_bytes) < 2;
                              }),
               panels.end());
  return panels;
}

// The highest bound of the runs of each size, GB/s.
Json bound_line(const ReportView& view, const Group& panel) {
  std::map<double, double> by_size;
  bool differs = false;
  for (const std::size_t i : panel.runs) {
    const auto ns = number_of(view.point(i), field::bound_ns);
    if (!ns || *ns <= 0) continue;
    const double size = *number_of(view.point(i), field::size_bytes);
    const auto [found, is_new] = by_size.emplace(size, size / *ns);
    differs = differs || (!is_new && found->second != size / *ns);
    found->second = std::max(found->second, size / *ns);
  }
  if (by_size.empty()) return nullptr;
  return {{"label", differs ? "proven bound, the highest" : "proven bound"}, {"points", by_size}};
}

Json series_json(const std::vector<Group>& lines) {
  Json series = Json::array();
  for (const Group& line : lines) series.push_back({{"label", line.title}, {"runs", line.runs}});
  return series;
}

std::string draw_sizes(const ReportView& view, Pictures& pictures, const Group& panel) {
  std::vector<Group> lines = lines_of(view, panel.runs, said_elsewhere(view), field::size_bytes);
  Json dashed = Json::array();
  for (Group& line : lines) {
    const ReportPoint& first = view.point(line.runs.front());
    if (line.title.empty()) line.title = text_of(first, field::algorithm);
    dashed.push_back(text_of(first, field::flow_control) == "packet");
  }
  return pictures.add(panel.title, {{"kind", "xy"},
                                    {"x", "size"},
                                    {"y", "bandwidth"},
                                    {"series", series_json(lines)},
                                    {"dashed", dashed},
                                    {"bound", bound_line(view, panel)}});
}

constexpr NumberField kLoadField = field::offered_flits_per_node_cycle;
constexpr NumberField kLatencyField = field::message_latency_mean_cycles;

bool is_saturated(const ReportPoint& point) {
  return truth_in(point.result, field::saturated).value_or(false);
}

std::string load_text(double load) { return fmt::format("{:g}", load); }

// "saturates between 0.41 and 0.42": the largest load that is accepted, the smallest that is not.
std::string saturation_text(const ReportView& view, const Group& line) {
  double good = 0;
  for (const std::size_t i : line.runs) {
    const double load = *number_of(view.point(i), kLoadField);
    if (!is_saturated(view.point(i))) {
      good = load;
      continue;
    }
    return good == 0 ? fmt::format("saturates below {}", load_text(load))
                     : fmt::format("saturates between {} and {}", load_text(good), load_text(load));
  }
  return fmt::format("does not saturate up to {}", load_text(good));
}

std::string draw_loads(const ReportView& view, Pictures& pictures, const Group& panel,
                       std::vector<Group> lines) {
  std::string caption;
  std::size_t drawn = 0;
  for (Group& line : lines) {
    add_word(caption, lines.size() == 1 ? saturation_text(view, line)
                                        : line.title + " " + saturation_text(view, line));
    if (line.title.empty()) line.title = "mean";
    line.runs.erase(std::remove_if(line.runs.begin(), line.runs.end(),
                                   [&](std::size_t i) { return is_saturated(view.point(i)); }),
                    line.runs.end());
    drawn += line.runs.size();
  }
  if (drawn == 0) return {};
  return pictures.add(panel.title,
                      {{"kind", "xy"},
                       {"x", "load"},
                       {"y", "latency"},
                       {"linear", true},
                       {"numbered", true},  // colours by line, not by algorithm
                       {"series", series_json(lines)}},
                      caption);
}

std::string load_table(const ReportView& view, const Group& panel,
                       const std::vector<Group>& lines) {
  std::vector<std::size_t> runs;
  std::map<std::size_t, std::string> label;
  for (const Group& line : lines) {
    for (const std::size_t i : line.runs) {
      runs.push_back(i);
      label[i] = line.title;
    }
  }
  const Column accepted = field_column(view, "accepted", field::accepted_flits_per_node_cycle);
  std::vector<Column> columns{
      {"design", false, [&](std::size_t i) { return label.at(i); }, false, true},
      {"load", true,
       [&](std::size_t i) { return load_text(*number_of(view.point(i), kLoadField)); }},
      {"accepted", true, [&](std::size_t i) {
         return accepted.text(i) + (is_saturated(view.point(i)) ? ", saturated" : "");
       }}};
  for (const auto& [title, field] : {std::pair{"mean", kLatencyField},
                                     {"95 % \u00b1", field::message_latency_half_width_cycles},
                                     {"p50", field::message_latency_p50_cycles},
                                     {"p95", field::message_latency_p95_cycles},
                                     {"p99", field::message_latency_p99_cycles},
                                     {"max", field::message_latency_max_cycles}})
    columns.push_back(field_column(view, title, field));
  return run_table("Latency in cycles by load, " + panel.title, columns, runs);
}

}  // namespace

Section bandwidth_section(const ReportView& view, Pictures& pictures) {
  Section section{"bandwidth", "Bandwidth against size"};
  const std::vector<std::size_t> points = view.points_where(is_on_curve);
  const std::vector<Group> panels = size_panels(view, points);
  if (panels.empty()) {
    section.why_not = points.empty() ? "no verified collective has a size and a bandwidth"
                                     : "no system was run with more than one size";
    return section;
  }
  std::string figures;
  for (std::size_t p = 0; p < std::min(panels.size(), kMostPictures); ++p)
    figures += draw_sizes(view, pictures, panels[p]);
  section.html =
      paragraph_html(
          "Bandwidth is the size of the collective divided by its time. No algorithm on the same "
          "network can exceed the proven bound.") +
      first_pictures_html(panels.size(), "all numbers are in the table of runs") +
      figures_html(figures);
  return section;
}

// A picture for each network and pattern that was run at several loads.
Section latency_section(const ReportView& view, Pictures& pictures) {
  Section section{"latency", "Latency against load"};
  const auto points = view.points_where([](const ReportPoint& point) {
    return point.state == ReportPoint::State::verified && number_of(point, kLoadField) &&
           number_of(point, kLatencyField);
  });
  std::string figures;
  std::string tables;
  std::size_t panels = 0;
  for (const Group& panel : split(points, [&](std::size_t i) {
         std::string title = fmt::format("{}, {}", text_of(view.point(i), field::topology),
                                         text_of(view.point(i), field::traffic));
         add_word(title, view.facet_of(i));
         return title;
       })) {
    if (count_values(view, panel, kLoadField) < 2) continue;
    const auto lines =
        lines_of(view, panel.runs, {"traffic.injection_rate", "traffic.pattern"}, kLoadField);
    tables += load_table(view, panel, lines);
    if (panels++ < kMostPictures) figures += draw_loads(view, pictures, panel, lines);
  }
  if (panels == 0) {
    section.why_not = "no network was run with traffic of several loads";
    return section;
  }
  section.html =
      paragraph_html(
          "Latency is from the generation of a message to its visibility at the receiver, mean "
          "over the measurement window. Saturated loads are not drawn, because their latency grows "
          "with the length of the run.") +
      first_pictures_html(panels, "all numbers are in the tables below") + figures_html(figures) +
      tables;
  return section;
}

}  // namespace espalier::report
