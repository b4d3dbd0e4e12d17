#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hw/cost/block_cost.h"
#include "hw/cost/logic.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/config/resolved.h"
#include "sims/experiment/point_runner.h"
#include "sims/experiment/result_fields.h"
#include "sims/experiment/result_parts.h"
#include "sims/point/enum_names.h"
#include "sims/synthesis/synthesizer.h"
#include "sims/text/fitted_text.h"
#include "sims/text/people.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, NumberField field) { return number_in(json, field).value(); }
std::string text(const Json& json, TextField field) { return text_in(json, field).value(); }
std::string count(const Json& json, NumberField field) { return find_field(json, field)->dump(); }
const Json& list(const Json& json, FieldName<ResultType::list> field) {
  return *find_field(json, field);
}

// Two significant digits: the formulas are good to 15 % (hw/cost/README.md).
std::string two_digits(double value) {
  if (value == 0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double unit = std::pow(10, digits - 1);
  return fmt::format("{:.{}f}", std::round(value / unit) * unit, std::max(0, 1 - digits));
}

std::string percent(double share) { return two_digits(100 * share) + " %"; }

std::string range(const Json& json, NumberField low, NumberField high) {
  const std::string from = two_digits(number(json, low));
  const std::string to = two_digits(number(json, high));
  return from == to ? from : from + " to " + to;
}

using Lines = std::vector<std::vector<std::string>>;

// The origins of area, delay and energy; one word if all three agree.
std::string origins(const Json& block) {
  const std::string area = text(block, field::area_blocks_origin);
  std::string all = area;
  const std::string delay = text(block, field::area_blocks_delay_origin);
  const std::string energy = text(block, field::area_blocks_pj_origin);
  if (delay != area) all += fmt::format(", ps {}", delay);
  if (energy != area) all += fmt::format(", pJ {}", energy);
  return all;
}

std::string size_of(const Json& block) {
  if (!number_in(block, field::area_blocks_words)) return "";
  return fmt::format("{}x{}", number(block, field::area_blocks_words),
                     number(block, field::area_blocks_bits));
}

std::string joined(const Json& words) {
  return fmt::format("{}", fmt::join(words.get<std::vector<std::string>>(), ", "));
}

// `all`: the area that shares refer to.
void add_blocks(Lines& lines, const Json& blocks, double all) {
  for (const Json& block : blocks) {
    lines.push_back({text(block, field::area_blocks_block), count(block, field::area_blocks_count),
                     two_digits(number(block, field::area_blocks_um2)),
                     two_digits(number(block, field::area_blocks_um2_high)),
                     percent(number(block, field::area_blocks_um2) / all),
                     fmt::format("{:.0f}", number(block, field::area_blocks_fo4)),
                     fmt::format("{:.0f}", number(block, field::area_blocks_ps)), size_of(block),
                     text(block, field::area_blocks_implementation), origins(block)});
  }
}

const std::vector<std::string> kColumns{"block", "count", "um2",  "to um2",   "share",
                                        "FO4",   "ps",    "size", "built of", "origin"};

std::string block_table(const Json& system) {
  const double all = number(system, field::area_router_um2) + number(system, field::area_ni_um2);
  Lines lines{kColumns};
  add_blocks(lines, list(system, field::area_blocks), all);
  const auto total = [&](const char* name, NumberField low, NumberField high) {
    lines.push_back({name, "", two_digits(number(system, low)), two_digits(number(system, high)),
                     percent(number(system, low) / all), "", "", "", "", ""});
  };
  total("router", field::area_router_um2, field::area_router_um2_high);
  total("NI", field::area_ni_um2, field::area_ni_um2_high);
  return fitted_table(lines, terminal_width(), "  ");
}

// The table of a kind whose blocks are not in any other table.
std::string kind_table(const Json& kind) {
  Lines lines{kColumns};
  add_blocks(lines, kind.at("blocks"), number(kind, field::area_nis_um2));
  return fitted_table(lines, terminal_width(), "  ");
}

// Whether the first table has the blocks of `kind`.
bool is_shown(const Json& kind, const Json& blocks) {
  return std::all_of(kind.at("blocks").begin(), kind.at("blocks").end(), [&](const Json& block) {
    return std::find(blocks.begin(), blocks.end(), block) != blocks.end();
  });
}

// The SRAM fit was checked between these nodes (hw/cost/README.md).
constexpr double kFinestChecked = 22;
constexpr double kCoarsestChecked = 90;

// For which schedules the NIs have tables; empty for NIs without any.
std::string tables_line(const Json& system) {
  if (!system.at("tables_of").empty()) {
    return fmt::format("  tables of NIs as needed by {}\n", joined(system.at("tables_of")));
  }
  const Json& blocks = list(system, field::area_blocks);
  const bool has_table = std::any_of(blocks.begin(), blocks.end(), [](const Json& block) {
    return text(block, field::area_blocks_block) == to_string(CostBlock::ni_schedule_table);
  });
  return has_table ? "  no schedule is configured, so two table entries per node are assumed\n"
                   : "";
}

// Text for the user. `system`: a member of `systems` in the JSON of `espalier area`.
std::string area_text(const Json& system) {
  std::string out =
      fmt::format("{} ({} nodes): {} at {} nm, cell area\n", text(system, field::topology),
                  count(system, field::nodes), text(system, field::area_technology),
                  number(system, field::area_node_nm));
  out += tables_line(system);
  out += block_table(system);
  out += fmt::format(
      "  NI extension {} um2, {} of NI and router, {} of the NI\n",
      range(system, field::area_ni_extension_um2, field::area_ni_extension_um2_high),
      percent(number(system, field::area_ni_extension_share)),
      percent(number(system, field::area_ni_extension_um2) / number(system, field::area_ni_um2)));
  out += fmt::format("  adders of the NI {} um2; extension and adders {} of NI and router\n",
                     two_digits(number(system, field::area_ni_adders_um2)),
                     percent(number(system, field::area_ni_extension_and_adders_share)));
  const Json& shown = list(system, field::area_blocks);
  for (const Json& router : list(system, field::area_routers)) {
    out += fmt::format(
        "  {} x router of {} ports ({}): {} um2 each\n", count(router, field::area_routers_count),
        count(router, field::area_routers_ports), text(router, field::area_routers_of),
        range(router, field::area_routers_um2, field::area_routers_um2_high));
    if (!is_shown(router, shown)) out += kind_table(router);
  }
  for (const Json& ni : list(system, field::area_nis)) {
    out += fmt::format("  {} x NI of {} ports: {} um2 each\n", count(ni, field::area_nis_count),
                       count(ni, field::area_nis_ports),
                       range(ni, field::area_nis_um2, field::area_nis_um2_high));
    if (!is_shown(ni, shown)) out += kind_table(ni);
  }
  out +=
      fmt::format("  system {} mm2 of cells, {} placed at utilization {}\n",
                  range(system, field::area_system_mm2, field::area_system_mm2_high),
                  range(system, field::area_system_placed_mm2, field::area_system_placed_mm2_high),
                  number(system, field::area_utilization));
  if (!list(system, field::area_left_out).empty()) {
    out += fmt::format("  not given, and in no total: {}\n",
                       joined(list(system, field::area_left_out)));
  }
  const auto leakage = number_in(system, field::area_system_leakage_mW);
  out += leakage ? fmt::format("  leakage of the system {} mW\n", two_digits(*leakage))
                 : fmt::format("  leakage unknown: there are data from 11 to 45 nm\n");
  const double node = number(system, field::area_node_nm);
  if (node < kFinestChecked || node > kCoarsestChecked) {
    out += fmt::format("  SRAM at {} nm is extrapolated: the fit was checked from {} to {} nm\n",
                       node, kFinestChecked, kCoarsestChecked);
  }
  for (const Json& block : list(system, field::area_blocks)) {
    if (text(block, field::area_blocks_block) != to_string(CostBlock::ni_dependency_state))
      continue;
    if (text(block, field::area_blocks_origin) != "formula" ||
        number(block, field::area_blocks_words) <= logic::kMostFittedPlaces) {
      continue;
    }
    out += fmt::format("  {} of {} places is extrapolated: the formula was fitted up to {}\n",
                       text(block, field::area_blocks_block),
                       number(block, field::area_blocks_words), logic::kMostFittedPlaces);
  }
  out += fmt::format("  clock at most {} GHz ({}), {} without adders, configured {}\n",
                     two_digits(number(system, field::area_max_clock_GHz)),
                     text(system, field::area_clock_limited_by),
                     two_digits(number(system, field::area_max_clock_without_adders_GHz)),
                     system.at("clock_GHz").get<double>());
  const auto queues = number_in(system, field::area_arbitration_cycles);
  out += fmt::format("  cycles: router pipeline {}, reduction {}{}\n",
                     count(system, field::area_pipeline_cycles),
                     count(system, field::area_reduction_cycles),
                     queues ? fmt::format(", arbitration {}", *queues) : "");
  for (const std::string& limit : clock_limits({&system}))
    out += "  clock not met: " + limit + "\n";
  return out;
}

// One row for each system. Documents quote the table, so it is Markdown outside of a terminal.
std::string summary(const std::vector<Json>& systems) {
  Lines lines{{"technology", "router, um2", "NI, um2", "extension, um2", "adders, um2",
               "extension / (router and NI)", "with adders", "clock without adders, GHz",
               "clock with adders, GHz", "router pipeline", "reduction latency"}};
  const bool one_schedule = std::all_of(systems.begin(), systems.end(), [&](const Json& system) {
    return system.at("tables_of") == systems.front().at("tables_of");
  });
  for (const Json& system : systems) {
    lines.push_back({fmt::format("{} at {} nm{}", text(system, field::area_technology),
                                 number(system, field::area_node_nm),
                                 one_schedule ? "" : ", " + joined(system.at("tables_of"))),
                     range(system, field::area_router_um2, field::area_router_um2_high),
                     range(system, field::area_ni_um2, field::area_ni_um2_high),
                     range(system, field::area_ni_extension_um2, field::area_ni_extension_um2_high),
                     two_digits(number(system, field::area_ni_adders_um2)),
                     percent(number(system, field::area_ni_extension_share)),
                     percent(number(system, field::area_ni_extension_and_adders_share)),
                     two_digits(number(system, field::area_max_clock_without_adders_GHz)),
                     two_digits(number(system, field::area_max_clock_GHz)),
                     fmt::format("{} cycles at {} GHz", count(system, field::area_pipeline_cycles),
                                 system.at("clock_GHz").get<double>()),
                     count(system, field::area_reduction_cycles) + " cycles"});
  }
  if (terminal_width() != kAnyWidth) return fitted_table(lines, terminal_width());
  std::string rule;
  for (std::size_t c = 0; c < lines.front().size(); ++c) rule += "|---";
  std::string out;
  for (const auto& cells : lines) {
    out += fmt::format("| {} |\n{}", fmt::join(cells, " | "), out.empty() ? rule + "|\n" : "");
  }
  return out;
}

// Writes one line for each block.
std::string area_csv(const std::vector<Json>& systems) {
  std::string out =
      "config,topology,nodes,technology,node_nm,part,ports,instances,block,count,um2,um2_high,"
      "words,"
      "bits,implementation,origin,fo4,ps,delay_origin,pj_read_or_use,pj_write,pj_origin,leakage_mW,"
      "leakage_origin\n";
  for (const Json& system : systems) {
    const auto add = [&](const Json& kind, const std::string& part) {
      for (const Json& block : kind.at("blocks")) {
        out += csv_cell(&system.at("config")) + "," + csv_cell(&system.at("topology")) + "," +
               count(system, field::nodes) + "," + text(system, field::area_technology) + "," +
               count(system, field::area_node_nm) + "," + part + "," + kind.at("ports").dump() +
               "," + kind.at("count").dump();
        for (const auto& [name, value] : block.items()) out += "," + csv_cell(&value);
        out += '\n';
      }
    };
    for (const Json& router : list(system, field::area_routers))
      add(router, text(router, field::area_routers_of) + " router");
    for (const Json& ni : list(system, field::area_nis)) add(ni, "ni");
  }
  return out;
}

// Measures every block that has Verilog source. Each size is measured once.
class Measurements {
 public:
  Measurements() = default;
  explicit Measurements(const std::string& liberty) : synthesizer_(liberty) {}

  void add_to(SystemConfig& system, const Topology& topology, const RunNeed& need) {
    if (synthesizer_.user_library() && system.cost.node_nm == 0) {
      throw std::runtime_error(
          "--liberty needs the feature size of its cells, for SRAM and wires: add --node, for "
          "example --node 45nm");
    }
    system.cost.user_library = synthesizer_.user_library();
    const PricedSystem priced = price_system(system, topology, need);
    for (const RouterCost& router : priced.cost.routers) measure(router.blocks());
    for (const NiKindCost& ni : priced.cost.nis) measure(ni.cost.blocks);
    system.cost.synthesized = known_;
  }

 private:
  void measure(const std::vector<BlockCost>& blocks) {
    for (const BlockCost& block : blocks) {
      if (!block.rtl) continue;
      const bool known =
          std::any_of(known_.begin(), known_.end(),
                      [&](const SynthesizedLogic& logic) { return logic.instance == *block.rtl; });
      if (known) continue;
      tell(stderr, "synthesizing {}\n", describe(*block.rtl));
      known_.push_back(synthesizer_.measure(*block.rtl));
    }
  }

  Synthesizer synthesizer_;
  std::vector<SynthesizedLogic> known_;
};

// The collective whose schedule or program needs the tables; empty if there is none.
std::string tables_of(const Topology& topology, const RunPoint& point) {
  if (!has_tables(topology, point)) return {};
  const CollectiveConfig& collective = *point.collective;
  const std::string& program = collective.program.file;
  return fmt::format("{} of {} ({})", program.empty() ? collective.algorithm : program,
                     format_quantity(Quantity::size, collective.size, " "),
                     name_of(point.system.flow_control.mode));
}

Json describe_system(const Input& input, const RunPoint& point, Measurements* measurements) {
  SystemConfig system = point.system;
  const Topology& topology = *input.topology;
  const RunNeed need = run_need(topology, point, input.tables);
  if (measurements != nullptr) measurements->add_to(system, topology, need);
  const PricedSystem priced = price_system(system, topology, need);
  Json json;
  json["config"] = input.path;
  json["topology"] = topology.name();
  json["nodes"] = topology.num_nodes();
  json["tables_of"] = Json::array();
  json["clock_GHz"] = static_cast<double>(system.clock.hertz) / 1e9;
  json["area"] = json_of(AreaResult{priced, system, topology, AreaDetail::every_kind});
  return json;
}

// Points whose schedules need the same tables have the same system.
void add_systems(const std::vector<Input>& inputs, Measurements* measurements,
                 std::vector<Json>& systems) {
  std::vector<Json> alike;  // without the collectives
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      const Json system = describe_system(input, point, measurements);
      const auto known = std::find(alike.begin(), alike.end(), system);
      const auto at = static_cast<std::size_t>(known - alike.begin());
      if (known == alike.end()) {
        alike.push_back(system);
        systems.push_back(system);
      }
      Json& collectives = systems[systems.size() - alike.size() + at]["tables_of"];
      const std::string collective = tables_of(*input.topology, point);
      const auto named = std::find(collectives.begin(), collectives.end(), collective);
      if (!collective.empty() && named == collectives.end()) collectives.push_back(collective);
    }
  }
}

// Every combination of technologies and nodes.
std::optional<std::vector<ListedSystem>> combinations(const AreaOptions& options) {
  std::vector<std::string> settings = options.overrides;
  for (const auto& [key, values] : {std::pair("system.cost.technology", &options.technologies),
                                    std::pair("system.cost.node", &options.nodes)}) {
    std::vector<std::string> once;
    std::copy_if(values->begin(), values->end(), std::back_inserter(once), [&](const auto& value) {
      return std::find(once.begin(), once.end(), value) == once.end();
    });
    if (!once.empty()) settings.push_back(fmt::format("{}=[{}]", key, fmt::join(once, ", ")));
  }
  return listed_systems(settings);
}

std::string document(const std::vector<Json>& systems) {
  Json root;
  root["tool"] = {{"name", "espalier"}, {"version", kVersion}};
  root["systems"] = systems;
  return root.dump(2) + "\n";
}

}  // namespace

int area_command(const AreaOptions& options) {
  std::optional<Measurements> measurements;
  std::vector<Json> systems;
  Messages audience = Messages::people;
  const auto combined = combinations(options);
  if (!combined) return kUsageError;
  for (const ListedSystem& asked : *combined) {
    const auto inputs = load_inputs(options.configs, asked.overrides, ConfigNeed::system, audience);
    if (!inputs) {
      // The first combination printed other messages.
      if (audience == Messages::nobody) {
        static_cast<void>(load_inputs(options.configs, asked.overrides, ConfigNeed::system));
      }
      return kUsageError;
    }
    if (!can_write({{"--json", options.json}, {"--csv", options.csv}}, files_of(*inputs)))
      return kUsageError;
    audience = Messages::nobody;
    try {
      if (!measurements && !options.liberty.empty()) {
        measurements.emplace(options.liberty);
      }
      if (options.synthesize && !measurements) measurements.emplace();
      add_systems(*inputs, measurements ? &*measurements : nullptr, systems);
    } catch (const std::exception& error) {
      tell(stderr, "{}\n", error.what());
      return kUsageError;
    }
  }
  std::FILE* people = options.json == "-" || options.csv == "-" ? stderr : stdout;
  if (options.summary) tell(people, "{}", summary(systems));
  for (std::size_t i = 0; i < systems.size() && !options.summary; ++i) {
    tell(people, "{}", (i == 0 ? "" : "\n") + area_text(systems[i]));
  }
  if (!options.json.empty() && !write_text(options.json, document(systems))) return kUsageError;
  if (!options.csv.empty() && !write_text(options.csv, area_csv(systems))) return kUsageError;
  return kGood;
}

}  // namespace espalier
