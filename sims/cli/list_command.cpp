#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "alg/algorithm.h"
#include "hw/cost/technology.h"
#include "hw/topology/families/family.h"
#include "sims/cli/embedded_files.h"
#include "sims/cli/output.h"
#include "sims/config/json_schema.h"
#include "sims/config/keys.h"
#include "sims/config/presets.h"
#include "sims/experiment/result_register.h"
#include "sims/point/enum_names.h"
#include "sims/study/sweep.h"
#include "sims/text/people.h"
#include "sims/text/text_lines.h"
#include "sims/workload/training/layer.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;
using NamedLine = std::pair<std::string, std::string>;

struct Kind {
  std::string name;
  std::string key;  // the key that takes these names
  std::vector<NamedLine> entries;
};

template <class Enum>
std::vector<NamedLine> names_of() {
  std::vector<NamedLine> entries;
  for (const std::string& name : all_names<Enum>()) entries.emplace_back(name, "");
  return entries;
}

// The blocks that system.cost.macros may describe, each with the numbers that it takes.
std::vector<NamedLine> cost_blocks() {
  std::vector<NamedLine> blocks;
  const Key& macros = *find_key("system.cost.macros");
  for (const ValueField& field : macros.shape.fields) {
    const std::size_t dot = field.name.rfind('.');
    const std::string block = field.name.substr(0, dot);
    if (blocks.empty() || blocks.back().first != block) blocks.emplace_back(block, "");
    std::string& numbers = blocks.back().second;
    numbers += (numbers.empty() ? "" : ", ") + field.name.substr(dot + 1);
  }
  for (auto& [block, numbers] : blocks) {
    for (const auto& [part, condition] : macros.part_conditions) {
      if (part == block) numbers += "; only where " + condition.sentence;
    }
  }
  return blocks;
}

// The names that stand in a table of the program, with a summary of each.
template <class Table, class Summary>
std::vector<NamedLine> names_in(const Table& table, const Summary& summary) {
  std::vector<NamedLine> entries;
  for (const auto& row : table) entries.emplace_back(row.name, std::invoke(summary, row));
  return entries;
}

// The kinds without names have theirs in names.txt.
std::vector<Kind> kinds() {
  const auto cell_text = [](const LibraryCells& cells) {
    return fmt::format("{:g} nm, NAND2 {:g} um2", cells.feature_nm, cells.nand2);
  };
  std::vector<Kind> all{
      {"topologies", "system.topology.type", names_in(families(), &Family::summary)},
      {"algorithms", "collective.algorithm", names_in(algorithms(), &Algorithm::summary)},
      {"technologies", "system.cost.technology", names_in(cell_libraries(), cell_text)},
      {"blocks", "system.cost.macros", cost_blocks()},
      {"operations", "collective.op", names_of<CollectiveOp>()},
      {"presets", "system.preset", names_in(presets(), &Preset::description)},
      {"flow-control", "system.flow_control.mode", names_of<FlowControlMode>()},
      {"lockstep", "system.ni.lockstep", {}},
      {"switching", "system.router.switching", names_of<Switching>()},
      {"reduction", "system.ni.reduction.mode", names_of<ReductionMode>()},
      {"traffic", "traffic.pattern", names_of<TrafficPattern>()},
      {"networks", "training.network", names_in(built_in_networks(), &BuiltInNetwork::summary)},
      {"overlap", "training.overlap", {}},
      {"sharing", "training.compute.sharing", {}},
      {"workloads", "workload.name", {}},
      {"exchange", "workload.exchange", {}}};
  for (const std::vector<std::string>& row : table_rows(names_file(), "names.txt", 3)) {
    const auto kind = std::find_if(all.begin(), all.end(),
                                   [&row](const Kind& any) { return any.name == row.at(0); });
    if (kind == all.end()) throw std::logic_error("names.txt: there is no kind " + row[0]);
    kind->entries.emplace_back(row.at(1), row.at(2));
  }
  return all;
}

}  // namespace

std::vector<std::string> list_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return names;
}

int list_command(const std::string& wanted, bool as_json) {
  Json list = Json::array();
  for (const Kind& kind : kinds()) {
    if (!wanted.empty() && kind.name != wanted) continue;
    if (as_json) {
      Json names = Json::array();
      for (const auto& [name, summary] : kind.entries) {
        names.push_back({{"name", name}, {"summary", summary}});
      }
      list.push_back({{"kind", kind.name}, {"key", kind.key}, {"names", std::move(names)}});
      continue;
    }
    std::string text = fmt::format("{} ({})\n", kind.name, kind.key);
    std::size_t width = 20;
    for (const auto& [name, summary] : kind.entries) width = std::max(width, name.size());
    for (const auto& [name, summary] : kind.entries) {
      text += fmt::format("  {:<{}} {}\n", name, width, summary);
    }
    tell(stdout, "{}", text);
  }
  if (as_json) fmt::print("{}\n", list.dump(2));
  return kGood;
}

namespace {

// The summaries of `list`, for the names in schemas.
NameTexts name_texts() {
  NameTexts texts;
  for (const Kind& kind : kinds()) {
    for (const auto& [name, summary] : kind.entries) {
      if (!summary.empty()) texts[kind.key][name] = summary;
    }
  }
  return texts;
}

Json json_schema(const std::string& of) {
  if (of == "sweep") return sweep_json_schema(name_texts());
  return of == "config" ? config_json_schema(name_texts(), true) : results_json_schema();
}

}  // namespace

int schema_command(const SchemaOptions& options) {
  if (!options.json_schema.empty()) {
    fmt::print("{}\n", json_schema(options.json_schema).dump(2));
  } else if (options.results) {
    if (options.json) {
      fmt::print("{}", result_register_json());
    } else {
      tell(stdout, "{}", result_register_text());
    }
  } else if (options.json) {
    fmt::print("{}\n", keys_json().dump(2));
  } else {
    tell(stdout, "{}", schema_text());
  }
  return kGood;
}

}  // namespace espalier
