#include "sims/config/nccl_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr double kPcieOverNccl = 21.0 / 16;  // 128 of 130 bits of a transfer

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

}  // namespace

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

}  // namespace espalier
