#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "sims/experiment/result_fields.h"
#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kEnergyBar = 20;
constexpr double kEnergyRow = 46;
constexpr double kEnergyHeight = 320;
constexpr std::size_t kMostEnergyBars = 16;

// The parts of `energy.uJ` in the order of their colours.
constexpr std::array kParts{"buffers",     "crossbars",  "allocators", "control",      "ni_buffers",
                            "ni_datapath", "tables",     "queues",     "instructions", "adders",
                            "links",       "clock_tree", "leakage"};

struct RunEnergy {
  std::size_t run;
  double priced_uj;
  std::array<double, kParts.size()> uj;  // 0 where the part is not priced
};

std::vector<RunEnergy> energies_of(const ReportView& view) {
  std::vector<RunEnergy> energies;
  for (std::size_t i = 0; i < view.data().points.size(); ++i) {
    const ReportPoint& point = view.point(i);
    const auto priced = number_of(point, "energy.priced_uJ");
    if (point.state != ReportPoint::State::verified || !priced || *priced <= 0) continue;
    RunEnergy energy{i, *priced, {}};
    for (std::size_t p = 0; p < kParts.size(); ++p)
      energy.uj[p] = number_of(point, fmt::format("energy.uJ.{}", kParts[p])).value_or(0);
    energies.push_back(energy);
  }
  return energies;
}

std::string left_out_of(const ReportPoint& point) {
  std::string words;
  const Json* list = find_field(point.result, "energy.left_out");
  if (list == nullptr || !list->is_array()) return words;
  for (const Json& item : *list) {
    if (item.is_string()) add_word(words, item.get<std::string>());
  }
  return words;
}

std::string draw_bars(const ReportView& view, const std::vector<RunEnergy>& energies) {
  double most = 0;
  std::set<std::size_t> parts;
  for (const RunEnergy& one : energies) {
    most = std::max(most, one.priced_uj);
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      if (one.uj[p] > 0) parts.insert(p);
    }
  }
  std::vector<LegendEntry> legend;
  for (const std::size_t p : parts) legend.push_back({kParts[p], {p, false}, false});
  const double below = legend_height(legend, kPictureWidth);
  const double rows = kEnergyRow * static_cast<double>(energies.size());
  Svg svg(kPictureWidth, 12 + rows + 44 + below, "Energy of each run by blocks",
          "stacked bars of the energy of the blocks that have a price");
  const Axis x{"energy of a run, \u00b5J", ScaleKind::linear,
               round_range(ScaleKind::linear, 0, most, 4)};
  const Plot plot(svg, x, {"", ScaleKind::linear, {0, 1, {}}}, below);
  double top = plot.top() + 20;
  for (const RunEnergy& one : energies) {
    svg.text(plot.left() + 4, top - 4, title_of_run(view, one.run, true), "note");
    double sum = 0;
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      if (one.uj[p] <= 0) continue;
      const double from = plot.x(sum);
      sum += one.uj[p];
      svg.rect(from, top, plot.x(sum) - from, kEnergyBar, fmt::format("segment c{}", p),
               fmt::format("{}, {}: {} \u00b5J, {}", name_of_run(one.run), kParts[p],
                           number_text(one.uj[p]), percent_text(one.uj[p] / one.priced_uj)));
    }
    top += kEnergyRow;
  }
  draw_legend(svg, legend, svg.height() - below + 4);
  return figure_html("Energy by blocks", svg);
}

Axis axis_from(const std::string& label, double low, double high) {
  const ScaleKind kind = suited_scale(low, high);
  return {label, kind, round_range(kind, kind == ScaleKind::linear ? 0 : low, high, 5)};
}

std::string draw_against_time(const ReportView& view, const std::string& workload,
                              const std::vector<RunEnergy>& energies) {
  const auto time = [&](const RunEnergy& one) {
    return time_ns_of(view.point(one.run)).value_or(0) * 1e-3;
  };
  double shortest = time(energies.front());
  double longest = shortest;
  double least = energies.front().priced_uj;
  double most = least;
  for (const RunEnergy& one : energies) {
    shortest = std::min(shortest, time(one));
    longest = std::max(longest, time(one));
    least = std::min(least, one.priced_uj);
    most = std::max(most, one.priced_uj);
  }
  std::vector<std::size_t> runs;
  for (const RunEnergy& one : energies) runs.push_back(one.run);
  const std::vector<LegendEntry> legend = legend_of(view, runs);
  const double below = legend.size() > 1 ? legend_height(legend, kPictureWidth) : 0;
  Svg svg(kPictureWidth, kEnergyHeight + below, "Energy against time: " + workload,
          "a mark for each run");
  const Plot plot(svg, axis_from("time, \u00b5s", shortest, longest),
                  axis_from("energy, \u00b5J", least, most), below);
  for (const RunEnergy& one : energies) {
    draw_mark(
        svg, plot.x(time(one)), plot.y(one.priced_uj), view.look_of(one.run),
        fmt::format("{}: {}: {} \u00b5s, {} \u00b5J", name_of_run(one.run), view.describe(one.run),
                    number_text(time(one)), number_text(one.priced_uj)));
  }
  if (below > 0) draw_legend(svg, legend, kEnergyHeight + 4);
  return figure_html(workload, svg);
}

std::string energy_table(const ReportView& view, const std::vector<RunEnergy>& energies) {
  HtmlTable table;
  table.add_columns({"run", "workload", "settings"}, false);
  table.add_columns({"energy, \u00b5J", "pJ/B", "time, \u00b5s"}, true);
  table.add_column("left out", false);
  for (const RunEnergy& one : energies) {
    const ReportPoint& point = view.point(one.run);
    const auto per_byte = number_of(point, "energy.priced_pJ_per_byte");
    table.begin_row();
    table.add_cell(link_to_run(one.run));
    table.add_text(view.workload(one.run));
    table.add_text(view.describe(one.run));
    table.add_text(number_text(one.priced_uj));
    table.add_text(per_byte ? number_text(*per_byte) : "");
    table.add_text(number_text(time_ns_of(point).value_or(0) * 1e-3));
    table.add_text(left_out_of(point));
  }
  return table.str("Energy of each run, without the parts that are left out");
}

}  // namespace

Section energy_section(const ReportView& view) {
  Section section{"energy", "Energy", {}, {}};
  const std::vector<RunEnergy> energies = energies_of(view);
  if (energies.empty()) {
    section.why_not = "no verified result has a priced energy";
    return section;
  }
  std::set<std::string> left_out;
  for (const RunEnergy& one : energies) left_out.insert(left_out_of(view.point(one.run)));
  left_out.erase("");
  std::string words;
  for (const std::string& one : left_out) words += (words.empty() ? "" : "; ") + one;
  section.html = paragraph_html(
      "The energy of a run is the energy of all its counted events, for a collective on the whole "
      "system.");
  if (!words.empty()) {
    section.html += fmt::format(
        "<p><strong>Left out: {}.</strong> The energies are no totals.</p>\n", escape(words));
  }
  std::vector<RunEnergy> bars = energies;
  std::stable_sort(bars.begin(), bars.end(), [](const RunEnergy& a, const RunEnergy& b) {
    return a.priced_uj > b.priced_uj;
  });
  if (bars.size() > kMostEnergyBars) {
    section.html += paragraph_html(
        fmt::format("Bars show the {} runs with the most energy of {}; the table has all runs.",
                    kMostEnergyBars, bars.size()));
    bars.resize(kMostEnergyBars);
  }
  std::vector<std::string> order;
  std::map<std::string, std::vector<RunEnergy>> by_workload;
  for (const RunEnergy& one : energies) {
    std::vector<RunEnergy>& group = by_workload[view.workload(one.run)];
    if (group.empty()) order.push_back(view.workload(one.run));
    group.push_back(one);
  }
  std::vector<std::string> figures{draw_bars(view, bars)};
  for (const std::string& workload : order) {
    if (by_workload.at(workload).size() > 1 && figures.size() < kMostPictures)
      figures.push_back(draw_against_time(view, workload, by_workload.at(workload)));
  }
  section.html += figures_html(figures) + energy_table(view, energies);
  return section;
}

}  // namespace espalier::report
