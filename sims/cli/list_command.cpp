#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "alg/algorithm.h"
#include "hw/cost/technology.h"
#include "sims/cli/output.h"
#include "sims/config/json_schema.h"
#include "sims/config/keys.h"
#include "sims/config/presets.h"
#include "sims/experiment/result_register.h"
#include "sims/experiment/sweep/sweep.h"
#include "sims/point/enum_names.h"
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

std::vector<Kind> kinds() {
  std::vector<NamedLine> names;
  for (const Algorithm& algorithm : algorithms())
    names.emplace_back(algorithm.name, algorithm.summary);
  std::vector<NamedLine> preset_names;
  for (const Preset& preset : presets()) preset_names.emplace_back(preset.name, preset.description);
  std::vector<NamedLine> networks;
  for (const BuiltInNetwork& network : built_in_networks())
    networks.emplace_back(network.name, network.summary);
  std::vector<NamedLine> technologies;
  for (const LibraryCells& cells : cell_libraries()) {
    technologies.emplace_back(
        cells.name, fmt::format("{:g} nm, NAND2 {:g} um2", cells.feature_nm, cells.nand2));
  }
  return {
      {"topologies",
       "system.topology.type",
       {{"torus", "dims [X, Y, Z]; neighbours wrap around"},
        {"mesh", "dims [X, Y, Z]"},
        {"fully_connected", "nodes; every node linked to every other"},
        {"switch", "nodes; one switch between them"},
        {"dgx2", "nodes_per_switch; two switches, as many links between them"},
        {"fat_tree", "nodes_per_switch, switches, spines; two levels"},
        {"bigraph",
         "nodes_per_switch, switches; every switch linked to all switches of the other side"},
        {"dragonfly", "nodes_per_switch, group_size, groups; one link between any two groups"},
        {"gpu_cluster",
         "servers, gpus_per_server; a switch in each, NICs (gpus_per_nic_group, nics_per_group, "
         "nic_link) between them"},
        {"data_center",
         "nodes, pods, racks_per_pod, hosts_per_rack; each level has its own link rates, other "
         "tenants have the other hosts"},
        {"file", "file; a graph of nodes, switches and links in YAML"},
        {"anynet", "file; a graph in BookSim's format"},
        {"dimensions", "system.dimensions; each dimension has its own kind of network"},
        {"astra_network", "file; a multi-dimensional system from ASTRA-sim's network.yml"}}},
      {"algorithms", "collective.algorithm", names},
      {"technologies", "system.cost.technology", technologies},
      {"blocks", "system.cost.macros", cost_blocks()},
      {"operations", "collective.op", names_of<CollectiveOp>()},
      {"presets", "system.preset", preset_names},
      {"flow-control", "system.flow_control.mode", names_of<FlowControlMode>()},
      {"lockstep",
       "system.ni.lockstep",
       {{"off", "a step starts as soon as its dependencies allow"},
        {"estimate", "a step lasts its estimated serialization time at this NI (MultiTree)"},
        {"drain", "a step starts when this NI's sends of the step before have left"},
        {"full", "a step lasts the estimated time until its messages are visible and reduced"},
        {"nop",
         "a step starts when the step before has released its ports; NOPs count (MultiTree's "
         "authors)"}}},
      {"switching", "system.router.switching", names_of<Switching>()},
      {"reduction", "system.ni.reduction.mode", names_of<ReductionMode>()},
      {"traffic", "traffic.pattern", names_of<TrafficPattern>()},
      {"networks", "training.network", networks},
      {"overlap",
       "training.overlap",
       {{"none", "one all-reduce of all gradients, after back-propagation"},
        {"layerwise", "each layer's gradient is all-reduced as soon as it is complete"}}},
      {"sharing",
       "training.compute.sharing",
       {{"samples", "each processing element computes whole samples"},
        {"folds", "the mini-batch is one matrix product; processing elements share its folds"}}},
      {"workloads",
       "workload.name",
       {{"resnet152", "data-parallel"},
        {"gnmt", "data-parallel"},
        {"dlrm", "MLPs data-parallel, embedding tables spread over all NPUs"},
        {"transformer_1t", "model-parallel groups, ZeRO stage 2 between them"}}},
      {"exchange",
       "workload.exchange",
       {{"bulk", "all gradients at once, after back-propagation"},
        {"per_layer", "each layer's gradients as soon as they are complete"}}},
  };
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
    fmt::print("{} ({})\n", kind.name, kind.key);
    std::size_t width = 20;
    for (const auto& [name, summary] : kind.entries) width = std::max(width, name.size());
    for (const auto& [name, summary] : kind.entries) {
      fmt::print("  {:<{}} {}\n", name, width, summary);
    }
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
    fmt::print("{}", options.json       ? result_register_json()
                     : options.markdown ? result_register_markdown()
                                        : result_register_text());
  } else if (options.json) {
    fmt::print("{}\n", keys_json().dump(2));
  } else {
    fmt::print("{}", schema_text());
  }
  return kGood;
}

}  // namespace espalier
