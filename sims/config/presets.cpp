#include "sims/config/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "sims/config/given_keys.h"
#include "sims/config/keys.h"
#include "sims/config/nccl_server.h"
#include "sims/text/foreign_formats.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_map.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr const char* kGpusKey = "system.topology.gpus_per_server";
constexpr const char* kServersKey = "system.topology.servers";

// NCCL's numbers belong to servers of as many GPUs as the preset has.
void count_gpus(Preset& preset, Diagnostics& diagnostics) {
  const auto found = preset.settings.find(kGpusKey);
  if (!preset.nccl || found == preset.settings.end()) return;
  const auto value = parse_value(found->second, kGpusKey, range_shape(1, 65536), diagnostics);
  if (value) preset.nccl->gpus_per_server = static_cast<double>(value->number);
}

// The base that the topology of NCCL in `file` is for the machine file `node`.
std::optional<Preset> base_from_topology(const ConfigNode& node, const std::string& file,
                                         std::uint64_t servers, const Place& place,
                                         Diagnostics& diagnostics) {
  const auto text = read_named_file(file, place, diagnostics);
  const auto server = text ? read_nccl_server(file, *text, diagnostics) : std::nullopt;
  const ConfigNode& own = value_at(value_at(node, "settings"), kServersKey);
  if (servers == 0 && !own.text.empty()) {
    const auto value = parse_value(own, kServersKey, range_shape(1, 65536), diagnostics);
    if (value) servers = value->number;
  }
  if (!server) return std::nullopt;
  return machine_of(*server, value_at(value_at(node, "nccl"), "gpu").text,
                    std::max<std::uint64_t>(servers, 1), diagnostics);
}

// A preset, whose `from` is one of `known` or, for a machine file in `folder`, a topology of NCCL.
Preset read_preset(const ConfigNode& node, const std::string& name,
                   const std::vector<Preset>& known, Diagnostics& diagnostics,
                   const std::string& folder = {}, std::uint64_t servers = 0) {
  const std::size_t errors = diagnostics.num_errors();
  const StrictMap map(node, name, {"description", "from", "settings", "nccl"}, diagnostics);
  Preset preset{name, map.text("description").value_or(""), {}, {}};
  const auto base = map.text("from");
  if (base && name.empty() && std::filesystem::path(*base).extension() == ".xml") {
    const std::string file = (std::filesystem::path(folder) / *base).string();
    if (auto made = base_from_topology(node, file, servers, map.place_of("from"), diagnostics)) {
      preset.settings = std::move(made->settings);
      preset.nccl = std::move(made->nccl);
    }
  } else if (base) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Preset& other) { return other.name == *base; });
    if (found == known.end()) {
      diagnostics.error(map.place_of("from"), fmt::format("from: there is no preset '{}'", *base),
                        "espalier list presets");
    } else {
      preset.settings = found->settings;
      preset.nccl = found->nccl;
    }
  }
  if (const ConfigNode* settings = map.find("settings")) {
    if (settings->kind != ConfigNode::Kind::map) {
      diagnostics.error(map.place_of("settings"), "settings: expected a mapping of dotted keys",
                        fmt::format("{}: 4", kGpusKey));
    }
    for (const ConfigEntry& setting : settings->entries) {
      preset.settings.insert_or_assign(setting.key, setting.value);
    }
  }
  if (const ConfigNode* nccl = map.find("nccl")) {
    if (!preset.nccl) preset.nccl.emplace();
    read_nccl_machine(*nccl, "nccl", *preset.nccl, diagnostics);
  }
  count_gpus(preset, diagnostics);
  if (preset.nccl && diagnostics.num_errors() == errors) {
    check_nccl_machine(*preset.nccl, map.place_of("nccl"), diagnostics);
  }
  return preset;
}

std::vector<Preset> read_presets() {
  const std::string text(presets_file());
  Diagnostics problems;
  const auto root = load_yaml(text, problems.add_file("presets.yaml", text), problems);
  std::vector<Preset> all;
  if (!root) throw std::logic_error(problems.text());
  for (const ConfigEntry& entry : root->entries) {
    all.push_back(read_preset(entry.value, entry.key, all, problems));
  }
  if (problems.num_errors() != 0) throw std::logic_error(problems.text());
  return all;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table = read_presets();
  return table;
}

Preset read_machine_file(const std::string& path, std::uint64_t servers, const Place& place,
                         Diagnostics& diagnostics) {
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return {};
  std::optional<ConfigNode> root;
  if (xml_root(*text) == "system") {
    ConfigNode from;
    from.kind = ConfigNode::Kind::scalar;
    from.text = std::filesystem::path(path).filename().string();
    root.emplace().kind = ConfigNode::Kind::map;
    root->entries.push_back({"from", place, std::move(from)});
  } else {
    root = load_yaml_map(*text, diagnostics.add_file(path, *text),
                         "expected a machine, which is a mapping", "from: h100_8", diagnostics);
  }
  if (!root) return {};
  Preset preset = read_preset(*root, "", presets(), diagnostics,
                              std::filesystem::path(path).parent_path().string(), servers);
  preset.name = path;
  for (const auto& [name, node] : preset.settings) {
    if (name == "system.preset") {
      diagnostics.error(node.place, "settings: a machine names its preset in 'from'",
                        "from: h100_8");
      continue;
    }
    if (find_key(name) != nullptr) continue;
    const std::string nearest = nearest_key(name);
    diagnostics.error(node.place, fmt::format("settings: there is no key '{}'", name),
                      nearest.empty() ? "espalier schema lists all keys"
                                      : fmt::format("did you mean '{}'?", nearest));
  }
  // Nobody has measured the user's machine.
  if (preset.nccl) preset.nccl->measured_servers = 0;
  return preset;
}

}  // namespace espalier
