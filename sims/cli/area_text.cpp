#include "sims/cli/area_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sims/experiment/result_fields.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, const char* key) { return json.at(key).get<double>(); }
std::string text(const Json& json, const char* key) { return json.at(key).get<std::string>(); }

// Two significant digits: the formulas are good to 15 % (docs/cost.md).
std::string two_digits(double value) {
  if (value == 0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double unit = std::pow(10, digits - 1);
  return fmt::format("{:.{}f}", std::round(value / unit) * unit, std::max(0, 1 - digits));
}

std::string percent(double share) { return two_digits(100 * share) + " %"; }

std::string range(const Json& json, const char* low, const char* high) {
  const std::string from = two_digits(number(json, low));
  const std::string to = two_digits(number(json, high));
  return from == to ? from : from + " to " + to;
}

using Lines = std::vector<std::vector<std::string>>;

// The first column is of names, to the left; numbers to the right.
std::string aligned(const Lines& lines) {
  std::string out;
  for (const auto& line : lines) {
    out += "  ";
    for (std::size_t c = 0; c < line.size(); ++c) {
      std::size_t width = 0;
      for (const auto& other : lines) width = std::max(width, other[c].size());
      const bool is_name = c == 0 || c + 3 >= line.size();
      out +=
          is_name ? fmt::format("{:<{}}", line[c], width) : fmt::format("{:>{}}", line[c], width);
      out += "  ";
    }
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

// "formula" where all three agree.
std::string origins(const Json& block) {
  const std::string area = text(block, "origin");
  std::string all = area;
  const std::string delay = text(block, "delay_origin");
  const std::string energy = text(block, "pj_origin");
  if (delay != area) all += fmt::format(", ps {}", delay);
  if (energy != area) all += fmt::format(", pJ {}", energy);
  return all;
}

std::string size_of(const Json& block) {
  if (block.at("words").is_null()) return "";
  return fmt::format("{}x{}", number(block, "words"), number(block, "bits"));
}

// `all`: what shares are of.
void add_blocks(Lines& lines, const Json& blocks, double all) {
  for (const Json& block : blocks) {
    lines.push_back(
        {text(block, "block"), block.at("count").dump(), two_digits(number(block, "um2")),
         two_digits(number(block, "um2_high")), percent(number(block, "um2") / all),
         fmt::format("{:.0f}", number(block, "fo4")), fmt::format("{:.0f}", number(block, "ps")),
         size_of(block), text(block, "implementation"), origins(block)});
  }
}

const std::vector<std::string> kColumns{"block", "count", "um2",  "to um2",   "share",
                                        "FO4",   "ps",    "size", "built of", "origin"};

std::string block_table(const Json& area) {
  const double all = number(area, "router_um2") + number(area, "ni_um2");
  Lines lines{kColumns};
  add_blocks(lines, area.at("blocks"), all);
  const auto total = [&](const char* name, double low, double high) {
    lines.push_back(
        {name, "", two_digits(low), two_digits(high), percent(low / all), "", "", "", "", ""});
  };
  total("router", number(area, "router_um2"), number(area, "router_um2_high"));
  total("NI", number(area, "ni_um2"), number(area, "ni_um2_high"));
  return aligned(lines);
}

// Of a kind whose blocks stand in no other table.
std::string kind_table(const Json& kind) {
  Lines lines{kColumns};
  add_blocks(lines, kind.at("blocks"), number(kind, "um2"));
  return aligned(lines);
}

// Whether the blocks of `kind` are among those of the first table.
bool is_shown(const Json& kind, const Json& blocks) {
  return std::all_of(kind.at("blocks").begin(), kind.at("blocks").end(), [&](const Json& block) {
    return std::find(blocks.begin(), blocks.end(), block) != blocks.end();
  });
}

// The fit of SRAM was checked there.
constexpr double kFinestChecked = 22;
constexpr double kCoarsestChecked = 90;

}  // namespace

std::string area_text(const Json& system) {
  const Json& area = system.at("area");
  std::string out =
      fmt::format("{} ({} nodes): {} at {} nm, cell area\n", text(system, "topology"),
                  system.at("nodes").dump(), text(area, "technology"), number(area, "node_nm"));
  out += block_table(area);
  out += fmt::format("  NI extension {} um2, {} of NI and router, {} of the NI\n",
                     range(area, "ni_extension_um2", "ni_extension_um2_high"),
                     percent(number(area, "ni_extension_share")),
                     percent(number(area, "ni_extension_um2") / number(area, "ni_um2")));
  const Json& shown = area.at("blocks");
  for (const Json& router : area.at("routers")) {
    out += fmt::format("  {} x router of {} ports ({}): {} um2 each\n", router.at("count").dump(),
                       router.at("ports").dump(), text(router, "of"),
                       range(router, "um2", "um2_high"));
    if (!is_shown(router, shown)) out += kind_table(router);
  }
  for (const Json& ni : area.at("nis")) {
    out += fmt::format("  {} x NI of {} ports: {} um2 each\n", ni.at("count").dump(),
                       ni.at("ports").dump(), range(ni, "um2", "um2_high"));
    if (!is_shown(ni, shown)) out += kind_table(ni);
  }
  out += fmt::format("  system {} mm2 of cells, {} placed at utilization {}\n",
                     range(area, "system_mm2", "system_mm2_high"),
                     range(area, "system_placed_mm2", "system_placed_mm2_high"),
                     number(area, "utilization"));
  const double node = number(area, "node_nm");
  if (node < kFinestChecked || node > kCoarsestChecked) {
    out += fmt::format("  SRAM at {} nm is extrapolated: the fit was checked from {} to {} nm\n",
                       node, kFinestChecked, kCoarsestChecked);
  }
  const double fastest = number(area, "max_clock_GHz");
  const double clock = number(system, "clock_GHz");
  out += fmt::format("  clock at most {} GHz ({}), configured {}\n", two_digits(fastest),
                     text(area, "clock_limited_by"), clock);
  const std::string queues = system.at("implied_arbitration_cycles").is_null()
                                 ? ""
                                 : fmt::format(", arbitration {} (configured {})",
                                               system.at("implied_arbitration_cycles").dump(),
                                               system.at("arbitration_cycles").dump());
  out += fmt::format("  at {} GHz: router pipeline {} cycles (configured {}){}\n", clock,
                     system.at("implied_pipeline_cycles").dump(),
                     system.at("pipeline_cycles").dump(), queues);
  return out;
}

std::string area_csv(const std::vector<Json>& systems) {
  std::string out =
      "config,topology,nodes,technology,node_nm,part,ports,instances,block,count,um2,um2_high,"
      "words,"
      "bits,implementation,origin,fo4,ps,delay_origin,pj_read_or_use,pj_write,pj_origin\n";
  for (const Json& system : systems) {
    const Json& area = system.at("area");
    const auto add = [&](const Json& kind, const std::string& part) {
      for (const Json& block : kind.at("blocks")) {
        out += csv_cell(&system.at("config")) + "," + csv_cell(&system.at("topology")) + "," +
               system.at("nodes").dump() + "," + text(area, "technology") + "," +
               area.at("node_nm").dump() + "," + part + "," + kind.at("ports").dump() + "," +
               kind.at("count").dump();
        for (const auto& [name, value] : block.items()) out += "," + csv_cell(&value);
        out += '\n';
      }
    };
    for (const Json& router : area.at("routers")) add(router, text(router, "of") + " router");
    for (const Json& ni : area.at("nis")) add(ni, "ni");
  }
  return out;
}

}  // namespace espalier
