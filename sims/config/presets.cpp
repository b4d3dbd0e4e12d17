#include "sims/config/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "sims/config/given_keys.h"
#include "sims/config/keys.h"
#include "sims/formats/networks/network_formats.h"
#include "sims/text/foreign_formats.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_map.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr const char* kGpusKey = "system.topology.gpus_per_server";
constexpr const char* kServersKey = "system.topology.servers";
constexpr double kPcieOverNccl = 21.0 / 16;  // 128 of 130 bits of a transfer

// NCCL's numbers belong to servers of as many GPUs as the preset has.
void count_gpus(Preset& preset, Diagnostics& diagnostics) {
  const auto found = preset.settings.find(kGpusKey);
  if (!preset.nccl || found == preset.settings.end()) return;
  const auto value = parse_value(found->second, kGpusKey, range_shape(1, 65536), diagnostics);
  if (value) preset.nccl->gpus_per_server = static_cast<double>(value->number);
}

class Machine {
 public:
  Machine(Preset preset, const Place& place) : preset_(std::move(preset)), place_(place) {}

  void set(const std::string& key, const std::string& value) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::scalar;
    node.text = value;
    node.place = place_;
    preset_.settings.insert_or_assign(key, std::move(node));
  }
  void set(const std::string& key, std::uint64_t value) { set(key, std::to_string(value)); }
  void set_rate(const std::string& key, double gbps) { set(key, fmt::format("{:.1f}GB/s", gbps)); }
  NcclMachine& nccl() { return *preset_.nccl; }
  Preset take() { return std::move(preset_); }

 private:
  Preset preset_;
  Place place_;
};

// A machine for NCCL's choice from the topology that NCCL writes to NCCL_TOPO_DUMP_FILE. What the
// file does not have is as on the measured machine that is most alike; one warning says both.
// `gpu`: a row of NCCL's tables; empty: by the GPUs' compute capability. Returns nothing after an
// error.
std::optional<Preset> machine_of(const NcclServer& server, const std::string& gpu,
                                 std::uint64_t servers, Diagnostics& diagnostics) {
  const Place& place = server.place;
  const std::string by_file = server.sm >= 90 ? "hopper" : "ampere";
  const std::string row = !gpu.empty() ? gpu : by_file;
  if (server.sm >= 80 && server.sm < 100 && row != by_file) {
    diagnostics.error(place, fmt::format("nccl.gpu: {} contradicts sm {}", row, server.sm),
                      "leave nccl.gpu out");
    return std::nullopt;
  }
  if (gpu.empty() && (server.sm < 80 || server.nvlinks == 0)) {
    diagnostics.error(
        place,
        server.sm == 0 ? std::string("the file does not say which GPUs these are: no gpu element "
                                     "has sm")
        : server.sm < 80
            ? fmt::format("NCCL's tables here begin with sm 80, and these GPUs have sm {}",
                          server.sm)
            : std::string("the file has no nvlink elements, so the GPUs have PCIe only, and in a "
                          "machine for NCCL's choice a switch joins them"),
        "a machine file (docs/silicon.md): {from: topo.xml, nccl: {gpu: hopper}}; or the file that "
        "NCCL writes to NCCL_TOPO_DUMP_FILE");
    return std::nullopt;
  }
  const bool is_hopper = row == "hopper";
  const bool is_one = servers == 1;
  const std::string base = !is_hopper ? "sophia" : is_one ? "h100_8" : "h100_10x8";
  Machine machine(*std::find_if(presets().begin(), presets().end(),
                                [&](const Preset& preset) { return preset.name == base; }),
                  place);
  std::string assumed;
  double nvlinks = server.nvlinks;
  if (nvlinks == 0) {
    nvlinks = is_hopper ? 370.8 : 240;
    assumed = fmt::format("{} NVLinks of {} GB/s for each GPU; ", is_hopper ? 18 : 12,
                          is_hopper ? 20.6 : 20);
  }
  NcclMachine& nccl = machine.nccl();
  nccl.gpu = row;
  nccl.hosts = server.is_amd_host ? "amd" : "intel";
  machine.set("system.topology.servers", servers);
  machine.set("system.topology.gpus_per_server", server.gpus);
  const double wire = nvlinks * kNcclOnWire;
  const auto flit = static_cast<std::uint64_t>(std::ceil(wire - 0.05));  // at 1 GHz
  machine.set_rate("system.link.bandwidth", wire);
  machine.set("system.router.flit_bytes", flit);
  machine.set("system.flow_control.payload_bytes", 16 * flit);
  // Rings by NVLinks in a server, one for each NIC between servers.
  std::string rates = fmt::format("{:g} GB/s of NVLinks", nvlinks);
  if (is_one) {
    nccl.find_rings_of_server(nvlinks);
  } else if (server.nics == 0) {
    assumed += "NICs, ";
  } else {
    const auto nics = static_cast<double>(server.nics);
    nccl.found = nics;
    nccl.channels = std::min(2 * nics, 32.0);
    nccl.network_rate = std::min(server.nic_rate, server.nic_pcie);
    nccl.ring_rate = std::min(nccl.network_rate, nvlinks / nics);
    if (nccl.nvls_channels != 0) nccl.nvls_channels = nics;
    machine.set("system.topology.gpus_per_nic_group", server.gpus / server.nics);
    machine.set_rate("system.topology.nic_link.bandwidth",
                     std::min(server.nic_rate, server.nic_pcie * kPcieOverNccl) * kNcclOnWire);
    rates += fmt::format(", {} NICs of {:g} GB/s for NCCL", server.nics, nccl.network_rate);
  }
  if (nccl.nvls_channels != 0) nccl.nvls_rate = nvlinks / nccl.nvls_channels;
  diagnostics.warning(
      place,
      fmt::format("a server has {} GPUs ({}), {}; {:g} rings are assumed in {:g} channels; not "
                  "in the file, so assumed: {}latencies, launch and steps of {}",
                  server.gpus, row, rates, nccl.found, nccl.channels, assumed, base),
      "a machine file (docs/silicon.md) replaces what is known better, for example channels of "
      "NCCL's log");
  return machine.take();
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
