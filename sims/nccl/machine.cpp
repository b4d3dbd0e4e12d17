#include "sims/nccl/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sims/text/strict_map.h"
#include "sims/text/values.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr double kMostNumber = 1e12;

std::optional<double> parse_number(const ConfigNode& node, const std::string& name,
                                   Diagnostics& diagnostics) {
  ValueShape shape;
  shape.type = ValueType::fraction;
  shape.max_fraction = kMostNumber;
  const auto value = parse_value(node, name, shape, diagnostics);
  return value ? std::optional(value->fraction) : std::nullopt;
}

// The parts of "tree/2.18/start".
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A published row like this one, whose length this one must have; nullptr if there is none.
const std::vector<double>* like(const NcclTables& tables, const std::string& name) {
  const std::vector<std::string> parts = parts_of(name);
  for (const auto& [other, numbers] : tables) {
    const std::vector<std::string> others = parts_of(other);
    const bool has_columns = parts.size() == 3;
    if (others.size() == parts.size() && others.front() == parts.front() &&
        (!has_columns || others.back() == parts.back())) {
      return &numbers;
    }
  }
  return nullptr;
}

// Sets the rows that a node of tuning.yaml's form gives. `published`: the rows that there may be;
// nullptr: any.
void read_tables(const ConfigNode& node, const std::string& name, const NcclTables* published,
                 NcclTables& tables, Diagnostics& diagnostics) {
  for (const ConfigEntry& entry : node.entries) {
    read_tables(entry.value, name.empty() ? entry.key : name + "/" + entry.key, published, tables,
                diagnostics);
  }
  if (node.kind == ConfigNode::Kind::map) return;
  const std::string key = name.empty() ? "nccl.tuning" : "nccl.tuning: " + name;
  const bool is_list = node.kind == ConfigNode::Kind::list;
  std::vector<double> numbers;
  for (const ConfigNode& item : is_list ? node.items : std::vector<ConfigNode>{node}) {
    const auto number = parse_number(item, key, diagnostics);
    if (!number) return;
    numbers.push_back(*number);
  }
  const std::vector<double>* const known = published == nullptr ? &numbers : like(*published, name);
  if (known == nullptr) {
    diagnostics.error(node.place, fmt::format("{}: NCCL has no such table", key),
                      "write as in sims/nccl/tuning.yaml, for example ll: {hopper: [141, 45, 35]}");
  } else if (known->size() != numbers.size()) {
    diagnostics.error(node.place, fmt::format("{}: expected {} numbers, found {}", key,
                                              known->size(), numbers.size()));
  } else {
    tables[name] = std::move(numbers);
  }
}

const NcclTables& published_tables() {
  static const NcclTables tables = [] {
    const std::string text(nccl_tuning_file());
    Diagnostics problems;
    NcclTables read;
    const auto root = load_yaml(text, problems.add_file("tuning.yaml", text), problems);
    if (root) read_tables(*root, "", nullptr, read, problems);
    if (problems.num_errors() != 0) throw std::logic_error(problems.text());
    return read;
  }();
  return tables;
}

struct NumberField {
  const char* name;
  double NcclMachine::*number;
};
constexpr NumberField kNumbers[] = {
    {"measured_servers", &NcclMachine::measured_servers},
    {"gpus_per_server", &NcclMachine::gpus_per_server},
    {"channels", &NcclMachine::channels},
    {"found", &NcclMachine::found},
    {"ring_rate", &NcclMachine::ring_rate},
    {"network_rate", &NcclMachine::network_rate},
    {"nvls_channels", &NcclMachine::nvls_channels},
    {"nvls_rate", &NcclMachine::nvls_rate},
    {"ll_step", &NcclMachine::ll_step},
    {"ll128_step", &NcclMachine::ll128_step},
    {"ll_rate", &NcclMachine::ll_rate},
    {"nvls_tree_rate", &NcclMachine::nvls_tree_rate},
    {"ll_post", &NcclMachine::ll_post},
    {"simple_post", &NcclMachine::simple_post},
    {"matched_post", &NcclMachine::matched_post},
    {"tree_post", &NcclMachine::tree_post},
    {"message_rate", &NcclMachine::message_rate},
    {"message_post", &NcclMachine::message_post},
    {"inject_post", &NcclMachine::inject_post},
    {"network_channels", &NcclMachine::network_channels},
    {"exchange_rate", &NcclMachine::exchange_rate},
    {"exchange_nic_rate", &NcclMachine::exchange_nic_rate},
    {"peer_launch", &NcclMachine::peer_launch},
    {"nvls_addition", &NcclMachine::nvls_addition},
    {"nvls_start", &NcclMachine::nvls_start},
};
struct WordField {
  const char* name;
  std::string NcclMachine::*word;
};
constexpr WordField kWords[] = {
    {"gpu", &NcclMachine::gpu},           {"version", &NcclMachine::version},
    {"hosts", &NcclMachine::hosts},       {"in_switch", &NcclMachine::in_switch},
    {"measured", &NcclMachine::measured},
};
struct TruthField {
  const char* name;
  bool NcclMachine::*truth;
};
constexpr TruthField kTruths[] = {{"has_ll128", &NcclMachine::has_ll128},
                                  {"host_matches", &NcclMachine::host_matches}};

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const WordField& field : kWords) names.emplace_back(field.name);
  for (const NumberField& field : kNumbers) names.emplace_back(field.name);
  for (const TruthField& field : kTruths) names.emplace_back(field.name);
  names.emplace_back("tuning");
  return names;
}

}  // namespace

void NcclMachine::find_rings_of_server(double nvlinks) {
  found = gpu == "hopper" ? 24 : 12;
  channels = 24;
  ring_rate = nvlinks / found;
  network_rate = 0;
}

NcclMachine NcclMachine::for_group(std::uint32_t count, std::uint32_t gpus, double nvlinks) const {
  NcclMachine group = *this;
  group.servers = count;
  group.gpus_per_server = gpus;
  if (count == 1) {
    group.nvls_channels = 0;  // a context of the NI adds, and no switch does
    if (network_rate == 0) return group;
    group.find_rings_of_server(nvlinks);
    group.ll128_step = NcclMachine().ll128_step;
    return group;
  }
  if (gpus == gpus_per_server) return group;
  // A ring for each NIC near the group's GPUs, duplicated as the machine's rings are.
  group.found = std::max(std::floor(rings() * gpus / gpus_per_server), 1.0);
  group.channels = group.found * channels / rings();
  group.nvls_channels = 0;
  return group;
}

void read_nccl_machine(const ConfigNode& node, const std::string& name, NcclMachine& machine,
                       Diagnostics& diagnostics) {
  if (machine.tables.empty()) machine.tables = published_tables();
  const StrictMap map(node, name, field_names(), diagnostics);
  for (const WordField& field : kWords) {
    if (const auto word = map.text(field.name)) machine.*field.word = *word;
  }
  for (const NumberField& field : kNumbers) {
    const ConfigNode* given = map.find(field.name);
    if (given == nullptr) continue;
    ConfigNode placed = *given;
    placed.place = map.place_of(field.name);
    const auto number = parse_number(placed, name + "." + field.name, diagnostics);
    if (number) machine.*field.number = *number;
  }
  ValueShape truth;
  truth.type = ValueType::boolean;
  for (const TruthField& field : kTruths) {
    const ConfigNode* given = map.find(field.name);
    if (given == nullptr) continue;
    const auto value = parse_value(*given, name + "." + field.name, truth, diagnostics);
    if (value) machine.*field.truth = value->number != 0;
  }
  if (const ConfigNode* tuning = map.find("tuning")) {
    read_tables(*tuning, "", &published_tables(), machine.tables, diagnostics);
  }
}

void check_nccl_machine(const NcclMachine& machine, const Place& place, Diagnostics& diagnostics) {
  const auto whole = [&](const char* name, double value, double least, double most) {
    if (value == 0 && least > 0) {
      return diagnostics.error(place, fmt::format("nccl.{} is missing", name));
    }
    if (value >= least && value <= most && value == static_cast<double>(static_cast<int>(value))) {
      return;
    }
    diagnostics.error(place, fmt::format("nccl.{}: {:g} is not a whole number from {:g} to {:g}",
                                         name, value, least, most));
  };
  constexpr double kMostChannels = 32;  // of collective.program.channels
  whole("channels", machine.channels, 1, kMostChannels);
  whole("found", machine.found, 0, kMostChannels);
  whole("nvls_channels", machine.nvls_channels, 0, kMostChannels);
  whole("gpus_per_server", machine.gpus_per_server, 1, 65536);
  whole("network_channels", machine.network_channels, 1, kMostChannels);
  whole("tuning: nvls/channels", machine.table("nvls/channels"), 1, kMostChannels);
  const auto rate = [&](const char* name, double value, bool is_needed) {
    if (!is_needed || value > 0) return;
    diagnostics.error(place, fmt::format("nccl.{} is missing", name),
                      fmt::format("{}: 24 for 24 GB/s", name));
  };
  rate("ring_rate", machine.ring_rate, true);
  rate("message_rate", machine.message_rate, true);
  const bool adds = machine.nvls_channels != 0;
  rate("nvls_rate", machine.nvls_rate, adds);
  rate("nvls_addition", machine.nvls_addition, adds && machine.network_rate == 0);
  rate("nvls_tree_rate", machine.nvls_tree_rate, adds && machine.network_rate != 0);
  if (adds && machine.network_rate == 0 && machine.in_switch.empty()) {
    diagnostics.error(place, "nccl.in_switch is missing", "in_switch: h100_8_nvls");
  }
  const auto has_rows = [&](const char* name, const std::string& word,
                            const std::vector<std::string>& rows) {
    for (const std::string& row : rows) {
      if (machine.tables.count(row) != 0) continue;
      diagnostics.error(
          place, fmt::format("nccl.{}: '{}' has no row {} in NCCL's tables", name, word, row),
          "write a name of sims/nccl/tuning.yaml, or add rows under nccl.tuning");
      return;
    }
  };
  const std::string tree = "tree/" + machine.version;
  has_rows("version", machine.version, {tree + "/start", tree + "/nvlink", tree + "/network"});
  has_rows("hosts", machine.hosts, {"ll/" + machine.hosts});
  has_rows("gpu", machine.gpu,
           {"ll/" + machine.gpu, "ring_ll128/" + machine.gpu, "tree_ll128/" + machine.gpu,
            "tree_simple/" + machine.gpu});
  for (const char* row : {"chunk/LL", "chunk/LL128", "chunk/Simple", "step"}) {
    if (machine.table(row) >= 1) continue;
    diagnostics.error(place, fmt::format("nccl.tuning: {}: {:g} is not at least 1 byte", row,
                                         machine.table(row)));
  }
}

}  // namespace espalier
