#include <fmt/format.h>

#include <algorithm>

#include "sims/report/page/area.h"
#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr double kAreaBar = 18;
constexpr double kStep = 34;
constexpr std::size_t kMostDesigns = 8;

struct AreaDesign {
  std::vector<std::size_t> runs;  // all runs with these blocks
  std::vector<AreaUnit> units;
};

bool are_equal(const std::vector<AreaUnit>& a, const std::vector<AreaUnit>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const AreaUnit& x, const AreaUnit& y) {
           return x.name == y.name && x.blocks == y.blocks;
         });
}

std::vector<AreaDesign> designs_of(const ReportView& view) {
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
  return designs;
}

// Selects designs that are evenly spread by area, so that a reader sees the range.
std::vector<AreaDesign> some_of(std::vector<AreaDesign> designs) {
  const auto area = [](const AreaDesign& design) {
    double sum = 0;
    for (const AreaUnit& unit : design.units) sum += unit.low();
    return sum;
  };
  std::stable_sort(designs.begin(), designs.end(),
                   [&](const AreaDesign& a, const AreaDesign& b) { return area(a) < area(b); });
  if (designs.size() <= kMostDesigns) return designs;
  std::vector<AreaDesign> some;
  for (std::size_t i = 0; i < kMostDesigns; ++i)
    some.push_back(designs[i * (designs.size() - 1) / (kMostDesigns - 1)]);
  return some;
}

std::string runs_text(const std::vector<std::size_t>& runs) {
  constexpr std::size_t kMost = 4;
  std::string text = runs.size() == 1 ? "run " : "runs ";
  for (std::size_t r = 0; r < std::min(runs.size(), kMost); ++r)
    text += fmt::format("{}{}", r == 0 ? "" : ", ", runs[r] + 1);
  return runs.size() > kMost ? fmt::format("{} and {} more", text, runs.size() - kMost) : text;
}

std::string without_unit(const std::string& block) {
  const std::size_t dot = block.find('.');
  return dot == std::string::npos ? block : block.substr(dot + 1);
}

struct Unit {
  const AreaDesign* design;
  const AreaUnit* unit;
};

void draw_bar(Svg& svg, const Plot& plot, const AreaUnit& unit, double y,
              const std::vector<std::string>& names) {
  double sum = 0;
  for (const AreaBlock& block : unit.blocks) {
    const auto look =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), block.name) - names.begin());
    const double from = plot.x(sum * 1e-6);
    sum += block.um2;
    svg.rect(
        from, y, plot.x(sum * 1e-6) - from, kAreaBar,
        fmt::format("segment c{}{}", look % kNumLooks, look >= kNumLooks ? " pale" : ""),
        fmt::format("{}: {} \u00b5m\u00b2{}, {}, origin: {}", block.name, number_text(block.um2),
                    block.um2_high > block.um2
                        ? fmt::format(" to {} \u00b5m\u00b2", number_text(block.um2_high))
                        : "",
                    block.implementation, block.origin));
  }
  if (unit.high() <= sum) return;
  const double from = plot.x(sum * 1e-6);
  const double to = plot.x(unit.high() * 1e-6);
  const double middle = y + kAreaBar / 2;
  svg.line(from, middle, to, middle, "whisker");
  svg.line(to, middle - 5, to, middle + 5, "whisker");
}

// Draws one kind of unit for all designs.
std::string draw_unit(const std::string& name, const std::vector<Unit>& units) {
  double most = 0;
  std::vector<std::string> names;
  for (const Unit& one : units) {
    most = std::max(most, one.unit->high() * 1e-6);
    for (const AreaBlock& block : one.unit->blocks) {
      if (std::find(names.begin(), names.end(), block.name) == names.end())
        names.push_back(block.name);
    }
  }
  // The legend shows the colours of the bars.
  constexpr double kLegendRow = 20;
  constexpr double kSign = 18;
  constexpr double kLetter = 7.5;
  std::size_t longest = 0;
  for (const std::string& block : names) longest = std::max(longest, without_unit(block).size());
  const double needed = kSign + kLetter * static_cast<double>(longest + 1);
  const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>(kPictureWidth / needed));
  const double column = kPictureWidth / static_cast<double>(columns);
  const double legend =
      kLegendRow * static_cast<double>((names.size() + columns - 1) / columns) + 8;
  const double height = 12 + kStep * 1.25 * static_cast<double>(units.size()) + 44;
  const std::string title = name == "ni" ? "NI" : name;
  Svg svg(kPictureWidth, height + legend, "Area of one " + title + " by blocks",
          "bars of blocks; a line to the right shows the upper end of the SRAM areas");
  const Axis x{"area of one " + title + ", mm\u00b2", ScaleKind::linear,
               round_range(ScaleKind::linear, 0, most == 0 ? 1 : most, 5)};
  const Axis y{"", ScaleKind::linear, {0, 1, {}}};
  const Plot plot(svg, x, y, legend);
  for (std::size_t u = 0; u < units.size(); ++u) {
    const double top = plot.top() + kStep * 1.25 * static_cast<double>(u) + 18;
    svg.text(plot.left() + 4, top - 4, runs_text(units[u].design->runs), "note");
    draw_bar(svg, plot, *units[u].unit, top, names);
  }
  for (std::size_t n = 0; n < names.size(); ++n) {
    const double left = column * static_cast<double>(n % columns);
    const double top = height + 6 + kLegendRow * static_cast<double>(n / columns);
    svg.rect(left, top, 12, 12,
             fmt::format("segment c{}{}", n % kNumLooks, n >= kNumLooks ? " pale" : ""));
    svg.text(left + kSign, top + 11, without_unit(names[n]), "key");
  }
  return figure_html("One " + title, svg);
}

std::string blocks_table(const std::vector<AreaDesign>& designs) {
  HtmlTable table;
  table.add_columns({"run", "block"}, false);
  table.add_columns({"count", "area, \u00b5m\u00b2", "up to, \u00b5m\u00b2", "delay, ps"}, true);
  table.add_columns({"made of", "origin"}, false);
  for (const AreaDesign& design : designs) {
    for (const AreaUnit& unit : design.units) {
      for (const AreaBlock& block : unit.blocks) {
        table.begin_row();
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

std::string technology_of(const ReportView& view, const AreaDesign& design) {
  const ReportPoint& point = view.point(design.runs.front());
  const std::string technology = text_of(point, "area.technology");
  const auto node = number_of(point, "area.node_nm");
  if (technology.empty() && !node) return {};
  return fmt::format(" Technology: {}{}{}.", technology, technology.empty() || !node ? "" : ", ",
                     node ? number_text(*node) + " nm" : "");
}

}  // namespace

Section area_section(const ReportView& view) {
  Section section{"area", "Area by blocks", {}, {}};
  const std::vector<AreaDesign> all = designs_of(view);
  if (all.empty()) {
    section.why_not = "no result has an area by blocks";
    return section;
  }
  const std::vector<AreaDesign> designs = some_of(all);
  section.html = paragraph_html(
      "A bar adds up the areas of the blocks; the line to its right shows the range of its SRAM "
      "areas." +
      technology_of(view, designs.front()));
  if (designs.size() < all.size()) {
    section.html +=
        paragraph_html(fmt::format("{} of {} different designs, from the smallest to the largest.",
                                   designs.size(), all.size()));
  }
  std::vector<std::string> names;
  for (const AreaDesign& design : designs) {
    for (const AreaUnit& unit : design.units) {
      if (std::find(names.begin(), names.end(), unit.name) == names.end())
        names.push_back(unit.name);
    }
  }
  std::vector<std::string> figures;
  for (const std::string& name : names) {
    std::vector<Unit> units;
    for (const AreaDesign& design : designs) {
      for (const AreaUnit& unit : design.units) {
        if (unit.name == name) units.push_back({&design, &unit});
      }
    }
    figures.push_back(draw_unit(name, units));
  }
  section.html += figures_html(figures);
  section.html += "<details><summary>Blocks, with the origin of every number</summary>" +
                  blocks_table(designs) + "</details>\n";
  return section;
}

}  // namespace espalier::report
