// The area of designs by blocks.
#include <fmt/format.h>

#include <algorithm>

#include "sims/page/area.h"
#include "sims/page/section.h"
#include "sims/page/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

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

// The runs of a design, and the settings that tell it from other designs and are those of all its
// runs.
std::string design_label(const ReportView& view, const std::vector<AreaDesign>& designs,
                         const AreaDesign& design) {
  std::vector<std::size_t> all;
  for (const AreaDesign& other : designs) {
    all.insert(all.end(), other.runs.begin(), other.runs.end());
  }
  const std::vector<std::string> inner = view.telling_keys(design.runs, {});
  const std::string settings =
      view.describe(design.runs.front(), view.telling_keys(all, {inner.begin(), inner.end()}));
  return runs_text(design.runs) + (settings.empty() ? "" : ": " + settings);
}

std::string block_text(const AreaBlock& block) {
  return fmt::format("{}: {} \u00b5m\u00b2{}, {}, origin: {}", block.name, number_text(block.um2),
                     block.um2_high > block.um2
                         ? fmt::format(" to {} \u00b5m\u00b2", number_text(block.um2_high))
                         : "",
                     block.implementation, block.origin);
}

// One kind of unit, for all designs.
std::string draw_unit(const ReportView& view, Pictures& pictures, const std::string& name,
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
                      {"label", design_label(view, designs, design)},
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
  std::vector<TableRow> rows;
  for (const AreaDesign& design : designs) {
    for (const AreaUnit& unit : design.units) {
      for (const AreaBlock& block : unit.blocks) {
        rows.push_back({{link_to_run(design.runs.front()), escape(block.name),
                         number_text(block.count), number_text(block.um2),
                         number_text(block.um2_high), block.ps > 0 ? number_text(block.ps) : "",
                         escape(block.implementation), escape(block.origin)},
                        row_of_run(design.runs.front())});
      }
    }
  }
  return table_html("Blocks of one router and one NI, all instances together",
                    {{"run"},
                     {"block"},
                     {"count", true},
                     {"area, \u00b5m\u00b2", true},
                     {"up to, \u00b5m\u00b2", true},
                     {"delay, ps", true},
                     {"made of"},
                     {"origin"}},
                    rows);
}

std::string technology_of(const ReportPoint& point) {
  std::string words = text_of(point, field::area_technology);
  if (const auto node = number_of(point, field::area_node_nm))
    add_word(words, number_text(*node) + " nm");
  return words.empty() ? words : " Technology: " + words + ".";
}

}  // namespace

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
  for (const std::string& name : names) figures += draw_unit(view, pictures, name, all);
  section.html += figures_html(figures);
  section.html += "<details><summary>Blocks, with the origin of every number</summary>" +
                  blocks_table(designs) + "</details>\n";
  return section;
}

}  // namespace espalier::report
