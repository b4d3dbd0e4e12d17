// Designs: area against time with the Pareto front, energy, area by blocks, trainings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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

std::string number_or_nothing(const std::optional<double>& value) {
  return value ? number_text(*value) : "";
}

double time_us(const ReportView& view, std::size_t run) {
  return time_ns_of(view.point(run)).value_or(0) * 1e-3;
}

Column settings_column(const ReportView& view) {
  return {"settings", false, [&](std::size_t i) { return view.describe(i); }};
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
    panel.designs.push_back({*number_of(view.point(i), "area.system_mm2"), time_us(view, i)});
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
  Json picture{{"kind", "xy"}, {"x", "area"},    {"y", "compared"},
               {"runs", runs}, {"front", front}, {"dominated", dominated}};
  if (!view.options().facet.empty()) picture["share"] = "front";  // pictures with equal axes
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
       {"area, mm\u00b2", true,
        [&](std::size_t i) {
          return number_or_nothing(number_of(view.point(i), "area.system_mm2"));
        }},
       {"time, \u00b5s", true, [&](std::size_t i) { return number_text(time_us(view, i)); }},
       {"designs as good", false, [&](std::size_t i) { return as_good.at(i); }, false, true},
       {"clock", false, [&](std::size_t i) { return clock_problem(view.point(i)); }, false, true}},
      runs);
}

// The parts of `energy.uJ` in the order of their colours.
constexpr std::array kEnergyParts{
    "buffers", "crossbars",    "allocators", "control", "ni_buffers", "ni_datapath", "tables",
    "queues",  "instructions", "adders",     "links",   "clock_tree", "leakage"};

std::string left_out_of(const ReportPoint& point) {
  std::string words;
  const Json* list = find_field(point.result, "energy.left_out");
  if (list == nullptr || !list->is_array()) return words;
  for (const Json& item : *list) {
    if (item.is_string()) add_word(words, item.get<std::string>());
  }
  return words;
}

std::string draw_energies(const ReportView& view, Pictures& pictures,
                          const std::vector<std::size_t>& runs) {
  Json bars = Json::array();
  for (const std::size_t i : runs) {
    Json values = Json::array();
    for (const char* part : kEnergyParts)
      values.push_back(number_of(view.point(i), fmt::format("energy.uJ.{}", part)).value_or(0));
    std::string label = name_of_run(i);
    add_word(label, view.describe(i));
    bars.push_back({{"runs", Json::array({i})}, {"label", label}, {"values", values}});
  }
  return pictures.add("Energy by blocks", {{"kind", "bars"},
                                           {"unit", "energy of a run, \u00b5J"},
                                           {"sort", true},  // those with the least first
                                           {"most", 16},
                                           {"parts", kEnergyParts},
                                           {"bars", bars}});
}

struct AreaDesign {
  std::vector<std::size_t> runs;  // all runs with these blocks
  std::vector<AreaUnit> units;

  [[nodiscard]] double area() const {
    double sum = 0;
    for (const AreaUnit& unit : units) sum += unit.low();
    return sum;
  }
};

bool are_equal(const std::vector<AreaUnit>& a, const std::vector<AreaUnit>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const AreaUnit& x, const AreaUnit& y) {
                      return x.name == y.name && x.blocks == y.blocks;
                    });
}

// From the smallest to the largest.
std::vector<AreaDesign> area_designs(const ReportView& view) {
  std::vector<AreaDesign> designs;
  for (std::size_t i = 0; i < view.data().points.size(); ++i) {
    std::vector<AreaUnit> units = area_units(view.point(i));
    if (units.empty()) continue;
    const auto same = std::find_if(designs.begin(), designs.end(), [&](const AreaDesign& design) {
      return are_equal(design.units, units);
    });
    if (same != designs.end()) {
      same->runs.push_back(i);
    } else {
      designs.push_back({{i}, std::move(units)});
    }
  }
  std::stable_sort(designs.begin(), designs.end(),
                   [](const AreaDesign& a, const AreaDesign& b) { return a.area() < b.area(); });
  return designs;
}

std::string runs_text(const std::vector<std::size_t>& runs) {
  constexpr std::size_t kMost = 4;
  std::string text = runs.size() == 1 ? "run " : "runs ";
  for (std::size_t r = 0; r < std::min(runs.size(), kMost); ++r)
    text += fmt::format("{}{}", r == 0 ? "" : ", ", runs[r] + 1);
  return runs.size() > kMost ? fmt::format("{} and {} more", text, runs.size() - kMost) : text;
}

std::string block_text(const AreaBlock& block) {
  return fmt::format("{}: {} \u00b5m\u00b2{}, {}, origin: {}", block.name, number_text(block.um2),
                     block.um2_high > block.um2
                         ? fmt::format(" to {} \u00b5m\u00b2", number_text(block.um2_high))
                         : "",
                     block.implementation, block.origin);
}

// One kind of unit, for all designs.
std::string draw_unit(Pictures& pictures, const std::string& name,
                      const std::vector<AreaDesign>& designs) {
  std::vector<std::string> parts;
  Json bars = Json::array();
  for (const AreaDesign& design : designs) {
    for (const AreaUnit& unit : design.units) {
      if (unit.name != name) continue;
      Json values = Json::object();  // by part
      Json notes = Json::object();
      for (const AreaBlock& block : unit.blocks) {
        const std::string part = block.name.substr(block.name.find('.') + 1);
        if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
        values[part] = values.value(part, 0.0) + block.um2 * 1e-6;
        notes[part] = block_text(block);
      }
      bars.push_back({{"runs", design.runs},
                      {"label", runs_text(design.runs)},
                      {"values", values},
                      {"notes", notes},
                      {"more", std::max(0.0, unit.high() - unit.low()) * 1e-6}});
    }
  }
  const std::string title = name == "ni" ? "NI" : name;
  return pictures.add("One " + title, {{"kind", "bars"},
                                       {"unit", "area of one " + title + ", mm\u00b2"},
                                       {"most", 8},
                                       {"more", "range of SRAM areas"},
                                       {"parts", parts},
                                       {"bars", bars}});
}

std::string blocks_table(const std::vector<AreaDesign>& designs) {
  HtmlTable table;
  for (const char* title : {"run", "block"}) table.add_column(title, false);
  for (const char* title : {"count", "area, \u00b5m\u00b2", "up to, \u00b5m\u00b2", "delay, ps"})
    table.add_column(title, true);
  for (const char* title : {"made of", "origin"}) table.add_column(title, false);
  for (const AreaDesign& design : designs) {
    for (const AreaUnit& unit : design.units) {
      for (const AreaBlock& block : unit.blocks) {
        table.begin_row(row_of_run(design.runs.front()));
        table.add_cell(link_to_run(design.runs.front()));
        table.add_text(block.name);
        table.add_text(number_text(block.count));
        table.add_text(number_text(block.um2));
        table.add_text(number_text(block.um2_high));
        table.add_text(block.ps > 0 ? number_text(block.ps) : "");
        table.add_text(block.implementation);
        table.add_text(block.origin);
      }
    }
  }
  return table.str("Blocks of one router and one NI, all instances together");
}

std::string technology_of(const ReportPoint& point) {
  std::string words = text_of(point, "area.technology");
  if (const auto node = number_of(point, "area.node_nm"))
    add_word(words, number_text(*node) + " nm");
  return words.empty() ? words : " Technology: " + words + ".";
}

}  // namespace

Section pareto_section(const ReportView& view, Pictures& pictures) {
  Section section{"pareto", "Area against time"};
  const auto runs = view.points_where([](const ReportPoint& point) {
    return is_verified(point) && number_of(point, "area.system_mm2").value_or(0) > 0 &&
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
    return is_verified(point) && number_of(point, "energy.priced_uJ").value_or(0) > 0;
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
    figures += pictures.add(
        group.title, {{"kind", "xy"}, {"x", "compared"}, {"y", "energy"}, {"runs", group.runs}});
  }
  const auto number = [&](const char* field) {
    return [&view, field](std::size_t i) {
      return number_or_nothing(number_of(view.point(i), field));
    };
  };
  section.html +=
      figures_html(figures) +
      run_table(
          "Energy of each run, without the parts that are left out",
          {run_column(),
           {"workload", false, [&](std::size_t i) { return view.workload(i); }},
           settings_column(view),
           {"energy, \u00b5J", true, number("energy.priced_uJ")},
           {"pJ/B", true, number("energy.priced_pJ_per_byte")},
           {"time, \u00b5s", true, [&](std::size_t i) { return number_text(time_us(view, i)); }},
           {"left out", false, [&](std::size_t i) { return left_out_of(view.point(i)); }}},
          runs);
  return section;
}

Section area_section(const ReportView& view, Pictures& pictures) {
  constexpr std::size_t kMostDesigns = 8;  // in the table
  Section section{"area", "Area by blocks"};
  const std::vector<AreaDesign> all = area_designs(view);
  if (all.empty()) {
    section.why_not = "no result has an area by blocks";
    return section;
  }
  section.html = paragraph_html(
      "A bar adds up the areas of the blocks; the pale end to its right is the range of its SRAM "
      "areas." +
      technology_of(view.point(all.front().runs.front())));
  std::vector<AreaDesign> designs;  // evenly spread by area, so that a reader sees the range
  for (std::size_t i = 0; i < std::min(all.size(), kMostDesigns); ++i)
    designs.push_back(all.size() <= kMostDesigns ? all[i]
                                                 : all[i * (all.size() - 1) / (kMostDesigns - 1)]);
  if (designs.size() < all.size()) {
    section.html +=
        paragraph_html(fmt::format("{} of {} different designs, from the smallest to the largest.",
                                   designs.size(), all.size()));
  }
  std::vector<std::string> names;
  for (const AreaDesign& design : all) {
    for (const AreaUnit& unit : design.units) {
      if (std::find(names.begin(), names.end(), unit.name) == names.end())
        names.push_back(unit.name);
    }
  }
  std::string figures;
  for (const std::string& name : names) figures += draw_unit(pictures, name, all);
  section.html += figures_html(figures);
  section.html += "<details><summary>Blocks, with the origin of every number</summary>" +
                  blocks_table(designs) + "</details>\n";
  return section;
}

// Communication that is hidden behind computing costs no time and is no part of a bar.
Section training_section(const ReportView& view, Pictures& pictures) {
  Section section{"training", "Training: computing and communication"};
  const auto runs = view.points_where([](const ReportPoint& point) {
    return number_of(point, "training.iteration_ns").value_or(0) > 0 &&
           number_of(point, "training.exposed_ns");
  });
  if (runs.empty()) {
    section.why_not = "no run is a training whose iteration has ended";
    return section;
  }
  const auto all_us = [&](std::size_t i) {
    return *number_of(view.point(i), "training.iteration_ns") * 1e-3;
  };
  const auto exposed_us = [&](std::size_t i) {
    return *number_of(view.point(i), "training.exposed_ns") * 1e-3;
  };
  Json bars = Json::array();
  for (const std::size_t i : runs) {
    std::string label = name_of_run(i);
    add_word(label, text_of(view.point(i), "network"));
    add_word(label, view.describe(i));
    bars.push_back({{"runs", Json::array({i})},
                    {"label", label},
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
           {"network", false, [&](std::size_t i) { return text_of(view.point(i), "network"); }},
           settings_column(view),
           {"gradients", true,
            [&](std::size_t i) {
              const auto bytes = number_of(view.point(i), "size_bytes");
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
