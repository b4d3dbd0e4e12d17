// Designs: area against time with the Pareto front, energy, trainings.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "sims/experiment/result_fields.h"
#include "sims/page/area.h"
#include "sims/page/section.h"
#include "sims/page/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

bool is_verified(const ReportPoint& point) { return point.state == ReportPoint::State::verified; }

double time_us(const ReportView& view, std::size_t run) {
  return time_ns_of(view.point(run)).value_or(0) * 1e-3;
}

Column time_column(const ReportView& view) {
  return {"time, \u00b5s", true, [&](std::size_t i) { return number_text(time_us(view, i)); }};
}

struct FrontPanel {
  Group workload;
  std::vector<Design> designs;  // of the runs: mm2, us
  std::vector<bool> on_front;
  std::vector<Tie> front;  // indices into the runs

  [[nodiscard]] bool has_choice() const {
    return std::any_of(designs.begin(), designs.end(), [&](const Design& design) {
      return design.cost != designs.front().cost || design.time != designs.front().time;
    });
  }
};

FrontPanel panel_of(const ReportView& view, const Group& workload) {
  FrontPanel panel{workload, {}, {}, {}};
  for (const std::size_t i : workload.runs)
    panel.designs.push_back({*number_of(view.point(i), field::area_system_mm2), time_us(view, i)});
  panel.on_front = pareto_front(panel.designs, view.options().tolerance);
  panel.front = ties_of(panel.designs, panel.on_front, view.options().tolerance);
  return panel;
}

std::string draw_front(const ReportView& view, Pictures& pictures, const FrontPanel& panel) {
  const auto& runs = panel.workload.runs;
  Json front = Json::array();  // the best run of each tie, and how many are as good
  Json dominated = Json::array();
  for (const Tie& tie : panel.front) front.push_back({runs[tie.best], tie.others.size()});
  for (std::size_t d = 0; d < runs.size(); ++d) {
    if (!panel.on_front[d]) dominated.push_back(runs[d]);
  }
  Json picture{{"kind", "xy"}, {"x", "area"},    {"y", "compared"},       {"legend", "front"},
               {"runs", runs}, {"front", front}, {"dominated", dominated}};
  picture["share"] = !view.options().facet.empty();
  return pictures.add(panel.workload.title, picture,
                      fmt::format("{} of {} are on the front.", panel.front.size(),
                                  count_text(runs.size(), "design")));
}

std::string front_table(const ReportView& view, const std::vector<FrontPanel>& panels) {
  std::vector<std::size_t> runs;
  std::map<std::size_t, std::string> as_good;
  for (const FrontPanel& panel : panels) {
    for (const Tie& tie : panel.front) {
      const std::size_t run = runs.emplace_back(panel.workload.runs[tie.best]);
      as_good[run] = tie.others.empty() ? ""
                                        : fmt::format("{} designs within {}", tie.others.size() + 1,
                                                      spread_text(tie.spread));
    }
  }
  return run_table(
      "Designs on the front, by area",
      {run_column(),
       {"workload", false, [&](std::size_t i) { return panels.size() > 1 ? view.workload(i) : ""; },
        false, true},
       settings_column(view),
       field_column(view, "area, mm\u00b2", field::area_system_mm2),
       time_column(view),
       {"designs as good", false, [&](std::size_t i) { return as_good.at(i); }, false, true}},
      runs);
}

// The parts of `energy.uJ` in the order of their colours.
constexpr NumberField kEnergyParts[] = {
    field::energy_uJ_buffers, field::energy_uJ_crossbars,  field::energy_uJ_allocators,
    field::energy_uJ_control, field::energy_uJ_ni_buffers, field::energy_uJ_ni_datapath,
    field::energy_uJ_tables,  field::energy_uJ_queues,     field::energy_uJ_instructions,
    field::energy_uJ_adders,  field::energy_uJ_links,      field::energy_uJ_clock_tree,
    field::energy_uJ_leakage};

std::string left_out_of(const ReportPoint& point) {
  std::string words;
  const Json* list = find_field(point.result, field::energy_left_out);
  if (list == nullptr || !list->is_array()) return words;
  for (const Json& item : *list) {
    if (item.is_string()) add_word(words, item.get<std::string>());
  }
  return words;
}

std::string draw_energies(const ReportView& view, Pictures& pictures,
                          const std::vector<std::size_t>& runs) {
  Json parts = Json::array();
  for (const NumberField part : kEnergyParts) parts.push_back(std::strrchr(part.name, '.') + 1);
  Json bars = Json::array();
  const auto label = labels_of(view, runs);
  for (const std::size_t i : runs) {
    Json values = Json::array();
    for (const NumberField part : kEnergyParts)
      values.push_back(number_of(view.point(i), part).value_or(0));
    bars.push_back({{"runs", Json::array({i})}, {"label", label(i)}, {"values", values}});
  }
  return pictures.add("Energy by blocks", {{"kind", "bars"},
                                           {"unit", "energy of a run, \u00b5J"},
                                           {"sort", true},  // those with the least first
                                           {"most", 16},
                                           {"parts", parts},
                                           {"bars", bars}});
}

}  // namespace

Section pareto_section(const ReportView& view, Pictures& pictures) {
  Section section{"pareto", "Area against time"};
  const auto runs = view.points_where([](const ReportPoint& point) {
    return is_verified(point) && number_of(point, field::area_system_mm2).value_or(0) > 0 &&
           time_ns_of(point).value_or(0) > 0;
  });
  if (runs.empty()) {
    section.why_not = "no verified result has an area and a time";
    return section;
  }
  std::vector<FrontPanel> panels;
  for (const Group& workload : split(runs, [&](std::size_t i) { return view.workload(i); })) {
    FrontPanel panel = panel_of(view, workload);
    if (panel.has_choice()) panels.push_back(std::move(panel));
  }
  if (panels.empty()) {
    section.why_not = "no two designs with the same workload differ in area or time";
    return section;
  }
  std::string figures;
  for (std::size_t p = 0; p < std::min(panels.size(), kMostPictures); ++p)
    figures += draw_front(view, pictures, panels[p]);
  section.html =
      paragraph_html(fmt::format(
          "Designs with filled marks are on the Pareto front of their workload: no other design is "
          "better in area or time without being worse in the other. Differences up to {} count as "
          "none (option tolerance), because the cost model gives two significant digits. Hollow "
          "marks "
          "are dominated designs. A number is the number of the run; (+3) means three more designs "
          "as good as that run.{}",
          number_text(100 * view.options().tolerance) + " %",
          view.options().facet.empty() ? "" : " All pictures have the same axes.")) +
      first_pictures_html(panels.size(), "all fronts are in the table") + figures_html(figures) +
      front_table(view, panels);
  return section;
}

Section energy_section(const ReportView& view, Pictures& pictures) {
  Section section{"energy", "Energy"};
  const auto runs = view.points_where([](const ReportPoint& point) {
    return is_verified(point) && number_of(point, field::energy_priced_uJ).value_or(0) > 0;
  });
  if (runs.empty()) {
    section.why_not = "no verified result has a priced energy";
    return section;
  }
  std::set<std::string> left_out;
  for (const std::size_t i : runs) left_out.insert(left_out_of(view.point(i)));
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
  std::string figures = draw_energies(view, pictures, runs);
  std::size_t count = 1;
  for (const Group& group : split(runs, [&](std::size_t i) { return view.workload(i); })) {
    if (group.runs.size() < 2 || count == kMostPictures) continue;
    ++count;
    figures += pictures.add(group.title, {{"kind", "xy"},
                                          {"x", "compared"},
                                          {"y", "energy"},
                                          {"legend", "energy"},
                                          {"runs", group.runs}});
  }
  section.html += figures_html(figures);
  return section;
}

// Communication that is hidden behind computing costs no time and is no part of a bar.
Section training_section(const ReportView& view, Pictures& pictures) {
  Section section{"training", "Training: computing and communication"};
  const auto runs = view.points_where([](const ReportPoint& point) {
    return number_of(point, field::training_iteration_ns).value_or(0) > 0 &&
           number_of(point, field::training_exposed_ns);
  });
  if (runs.empty()) {
    section.why_not = "no run is a training whose iteration has ended";
    return section;
  }
  const auto all_us = [&](std::size_t i) {
    return *number_of(view.point(i), field::training_iteration_ns) * 1e-3;
  };
  const auto exposed_us = [&](std::size_t i) {
    return *number_of(view.point(i), field::training_exposed_ns) * 1e-3;
  };
  Json bars = Json::array();
  const auto label = labels_of(view, runs);
  for (const std::size_t i : runs) {
    bars.push_back({{"runs", Json::array({i})},
                    {"label", label(i)},
                    {"values", {all_us(i) - exposed_us(i), exposed_us(i)}}});
  }
  section.html =
      paragraph_html(
          "A bar is an iteration: computing, then the communication that no computing hides.") +
      figures_html(pictures.add("An iteration of each run",
                                {{"kind", "bars"},
                                 {"unit", "time of an iteration, \u00b5s"},
                                 {"most", 24},
                                 {"parts", {"computing", "exposed communication"}},
                                 {"bars", bars}})) +
      run_table(
          "Iterations",
          {run_column(),
           {"network", false,
            [&](std::size_t i) { return text_of(view.point(i), field::network); }},
           settings_column(view),
           {"gradients", true,
            [&](std::size_t i) {
              const auto bytes = number_of(view.point(i), field::size_bytes);
              return bytes ? bytes_text(static_cast<std::uint64_t>(*bytes)) : std::string();
            }},
           {"together, \u00b5s", true, [&](std::size_t i) { return number_text(all_us(i)); }},
           {"computing, \u00b5s", true,
            [&](std::size_t i) { return number_text(all_us(i) - exposed_us(i)); }},
           {"exposed, \u00b5s", true, [&](std::size_t i) { return number_text(exposed_us(i)); }},
           {"exposed, part", true,
            [&](std::size_t i) { return percent_text(exposed_us(i) / all_us(i)); }}},
          runs);
  return section;
}

}  // namespace espalier::report
