#include "sims/silicon/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace espalier {

namespace {

constexpr const char* kFence = "system.ni.program.fence_cycles";
constexpr const char* kNicRate = "system.topology.nic_link.bandwidth";
constexpr const char* kNicLatency = "system.topology.nic_link.latency";
constexpr const char* kProxyPut = "proxy_put";

// What NCCL's search finds, by its logs and src/graph/search.cc: 24 channels on one server of 8
// (16 between servers: 2 for each NIC) and 16 channels for NVLS on H100.
NcclSystem hopper(std::uint32_t servers, std::uint32_t gpus) {
  NcclSystem system;
  system.gpu = GpuGeneration::hopper;
  system.servers = servers;
  system.gpus_per_server = gpus;
  system.channels = servers == 1 ? 24 : 16;
  // 18 links of 20.6 GB/s (src/graph/topo.h, SM90_NVLINK_BW).
  system.ring_rate = 370.8 / system.channels;
  if (servers > 1) {
    // A ring for each NIC of 48 GB/s, duplicated, and trees and switches with each NIC.
    system.rings = system.trees = system.nvls_channels = 8;
    system.nvls_rate = 370.8 / 8;
    system.network_rate = 48;
  }
  // Rings' busbw is measured on 4 of 8 GPUs.
  if (servers == 1 && gpus == 8) {
    system.nvls_channels = 16;
    system.nvls_rate = 370.8 / 16;
  }
  return system;
}

// `rings` rings of `rate` GB/s between servers, which NCCL duplicates to `channels` channels.
NcclSystem ampere(std::uint32_t servers, std::uint32_t gpus, std::uint32_t channels,
                  std::uint32_t rings, double rate) {
  NcclSystem system;
  system.gpu = GpuGeneration::ampere;
  system.servers = servers;
  system.gpus_per_server = gpus;
  system.channels = channels;
  system.rings = system.trees = rings;
  // 12 links of 20.0 GB/s (src/graph/topo.h, SM80_NVLINK_BW).
  system.ring_rate = servers == 1 ? 240.0 / rings : rate;
  system.network_rate = rate;
  return system;
}

// What a Polaris node's network costs. The suffix is a site, a setting or both.
const std::vector<FittedNumber> kSlingshot{
    {kNicRate, 19, "GB/s", "NIC, on the wire", 19},
    {kNicLatency, 741, "ns", "a link between GPU, NIC and fabric", 800},
    {kLaunch, 6169, "", "launch, ns", 7000},
    {kFence, 8578, "", "a step of Simple, ns", 7000},
    {"ll_step", 33.4, "", "a step of LL, ns", 100},
    {"ll_rate", 10, "", "a channel of LL, on the wire, GB/s", 10},
    {"ll_post", 1494, "", "proxy, for a slot of LL, ns", 1250},
    {"ll_post_5", 2391, "", "proxy, for a slot of LL, setting 5, ns", 2000},
    {"simple_post_3", 8224, "", "proxy, for a slice of Simple, setting 3, ns", 8000},
    {"simple_post_4", 4745, "", "proxy, for a slice of Simple, setting 4, ns", 5000},
    {"simple_post_5", 8500, "", "proxy, for a slice of Simple, setting 5, ns", 8500},
    {"tree_post", 2021, "", "proxy, for a chunk of a tree of Simple, ns", 3600},
    {"tree_post_5", 7902, "", "proxy, for a chunk of a tree of Simple, setting 5, ns", 7500},
    {"peer_launch", 4745, "", "host, for each peer of an all_to_all, ns", 5000},
    {"message_post", 2791, "", "proxy, for a message, ns", 600},
    {"message_post_5", 6919, "", "proxy, for a message, setting 5, ns", 4000},
    {"inject_post", 14000, "", "more for a message of at most 192 bytes, ns", 14000}};

// The rate of an all_to_all between two nodes differs by job.
const std::vector<FittedNumber> kSlingshotPair{
    {"exchange_nic_rate_polaris_3", 16.2, "", "NIC in an all_to_all, Polaris, setting 3, GB/s", 12},
    {"exchange_nic_rate_polaris_4", 11.7, "", "NIC in an all_to_all, Polaris, setting 4, GB/s", 12},
    {"exchange_nic_rate_polaris_5", 11.4, "", "NIC in an all_to_all, Polaris, setting 5, GB/s", 12},
    {"exchange_nic_rate_sirius_3", 9.4, "", "NIC in an all_to_all, Sirius, setting 3, GB/s", 12},
    {"exchange_nic_rate_sirius_4", 10.6, "", "NIC in an all_to_all, Sirius, setting 4, GB/s", 12},
    {"exchange_nic_rate_sirius_5", 15.8, "", "NIC in an all_to_all, Sirius, setting 5, GB/s", 12}};

// Eight nodes were measured in jobs of their own. Fitted to rows up to 128 MiB, because larger ones
// take minutes to simulate.
const std::vector<FittedNumber> kSlingshotEight{
    {"exchange_nic_rate_3", 9.5, "", "NIC in an all_to_all, setting 3, GB/s", 9.5},
    {"exchange_nic_rate_4", 8.8, "", "NIC in an all_to_all, setting 4, GB/s", 9.5},
    {"exchange_nic_rate_5", 9.7, "", "NIC in an all_to_all, setting 5, GB/s", 9.5},
    {"ll_post", 1384, "", "proxy, for a slot of LL, ns", 1000},
    {"ll_post_5", 2966, "", "proxy, for a slot of LL, setting 5, ns", 2500},
    {"matched_post_5", 7805, "", "proxy, for a slot of LL that the host matches, setting 5, ns",
     8000},
    {"simple_post_3", 7593, "", "proxy, for a slice of Simple, setting 3, ns", 8000},
    {"simple_post_4", 5366, "", "proxy, for a slice of Simple, setting 4, ns", 5500},
    {"simple_post_5", 6169, "", "proxy, for a slice of Simple, setting 5, ns", 6500},
    {"tree_post", 3125, "", "proxy, for a chunk of a tree of Simple, ns", 2500},
    {"tree_post_5", 6042, "", "proxy, for a chunk of a tree of Simple, setting 5, ns", 5500},
    {"message_post", 2261, "", "proxy, for a message, ns", 1000},
    {"message_post_5", 5339, "", "proxy, for a message, setting 5, ns", 4500}};

std::vector<FittedNumber> found_by(const char* machine, std::vector<FittedNumber> numbers) {
  for (FittedNumber& number : numbers) number.from = machine;
  return numbers;
}

SiliconMachine polaris(const char* name, std::uint32_t nodes) {
  // A ring for each NIC, behind PCIe of 24 GB/s (src/graph/topo.h).
  SiliconMachine machine{name, "polaris", ampere(nodes, 4, 4, 2, 23.8), {}};
  // The NICs are behind the host bridge, where NCCL does not use LL128.
  machine.nccl.has_ll128 = false;
  machine.nccl.has_amd_hosts = true;
  if (nodes == 2) {
    machine.fitted = kSlingshot;
    const std::vector<FittedNumber>& more = kSlingshotPair;
    machine.fitted.insert(machine.fitted.end(), more.begin(), more.end());
  } else {
    machine.given = found_by("Polaris, 2 nodes", kSlingshot);
    machine.fitted = kSlingshotEight;
  }
  return machine;
}

// MSCCL++'s kernels, the same on both GPUs. What a launch and a proxy take is fitted to the rows
// below 1 MiB on H100, and predicts those on A100.
std::vector<SiliconMachine> mscclpp_machines() {
  constexpr const char* kHopperServer = "ND v5, 1 server, MSCCL++";
  constexpr const char* kHopperServers = "ND v5, 2 servers, MSCCL++";
  const FittedNumber launch{kLaunch, 4085, "", "launch, ns", 4500};
  const FittedNumber put{kProxyPut, 2002, "", "proxy, for a put to another server, ns", 1000};
  const FittedNumber nic{kNicRate, 25.6, "GB/s", "NIC, on the wire", 25};

  SiliconMachine hopper_server{kHopperServer, "ndv5", hopper(1, 8), {launch}};
  hopper_server.fits_small = true;
  SiliconMachine hopper_servers{
      kHopperServers, "ndv5", hopper(2, 8), {put}, found_by(kHopperServer, {launch})};
  hopper_servers.given.push_back(
      {kNicRate, 51.2, "GB/s", "NIC, on the wire: twice that of NDm v4"});
  hopper_servers.fits_small = true;
  SiliconMachine ampere_server{"NDm v4, 1 server, MSCCL++",
                               "a100_8",
                               ampere(1, 8, 24, 24, 0),
                               {},
                               found_by(kHopperServer, {launch})};
  SiliconMachine ampere_servers{"NDm v4, 2 servers, MSCCL++",
                                "a100_8",
                                ampere(2, 8, 16, 16, 12),
                                {nic},
                                found_by(kHopperServer, {launch})};
  ampere_servers.given.push_back(found_by(kHopperServers, {put}).front());
  return {hopper_server, hopper_servers, ampere_server, ampere_servers};
}

}  // namespace

Numbers SiliconMachine::numbers() const {
  Numbers numbers;
  for (const FittedNumber& number : given) numbers[number.name] = number.value;
  for (const FittedNumber& number : fitted) numbers[number.name] = number.value;
  return numbers;
}

std::string SiliconMachine::text_of(const FittedNumber& number, double value) const {
  // Rates of NICs in steps of 0.1 GB/s, other keys in whole cycles and bytes.
  if (std::string(number.unit) == "GB/s") return fmt::format("{:.1f}GB/s", value);
  const bool is_key = std::string(number.name).find('.') != std::string::npos;
  if (!is_key && value < 100) return fmt::format("{:.1f}", value);
  return fmt::format("{}{}", std::llround(value), number.unit);
}

const std::vector<SiliconMachine>& silicon_machines() {
  static const std::vector<SiliconMachine> machines = [] {
    std::vector<SiliconMachine> all;
    all.push_back({"8 x H100",
                   "h100_8",
                   hopper(1, 8),
                   {{kChannelRate, 27, "", "a channel, GB/s"},
                    {kFence, 1988, "", "a step of Simple, ns"},
                    {kLaunch, 26027, "", "launch, ns"},
                    {"message_rate", 22, "", "a channel of messages, GB/s"},
                    {"exchange_rate", 353, "", "links in an all_to_all, on the wire, GB/s"},
                    {"nvls_rate", 260, "", "addition in the switch, GB/s of a port"},
                    {"nvls_start", 53768, "", "start of an NVLS kernel, ns"}}});
    // Fitted to rows up to 1 GiB, because larger ones take minutes to simulate.
    SiliconMachine ten{"10 x 8 H100",
                       "h100_10x8",
                       hopper(10, 8),
                       {{kChannelRate, 20, "", "a channel, GB/s", 24},
                        {kNicLatency, 1620, "ns", "a link between GPU, NIC and fabric", 1500},
                        {"ll128_step", 5125, "", "a step of LL128, ns", 5000},
                        {"nvls_tree_rate", 31.1, "", "a channel of NVLS trees, GB/s", 36},
                        {"message_rate", 16.2, "", "a channel of messages, GB/s", 15}}};
    for (const FittedNumber& number : all.front().fitted) {
      const std::string name = number.name;
      if (name == kFence || name == kLaunch) ten.given.push_back(number);
    }
    ten.given = found_by(all.front().name, std::move(ten.given));
    ten.given.push_back({kNicRate, 53.1, "GB/s", "NIC, on the wire: 400 Gb/s of data"});
    ten.given.push_back({"simple_post", 2002, "", "proxy, for a slice of Simple, ns: ND v5's put"});
    ten.given.push_back({"network_channels", 1, "", "channels of messages between two of 80 GPUs"});
    all.push_back(std::move(ten));
    for (SiliconMachine& machine : mscclpp_machines()) all.push_back(std::move(machine));
    all.push_back(polaris("Polaris, 2 nodes", 2));
    all.push_back(polaris("Polaris, 8 nodes", 8));
    all.push_back({"Sophia, 2 nodes",
                   "sophia",
                   ampere(2, 8, 16, 8, 24),  // a ring for each NIC, behind PCIe of 24 GB/s
                   {{kNicRate, 23.6, "GB/s", "NIC, on the wire"},
                    {kNicLatency, 779, "ns", "a link between GPU, NIC and fabric"},
                    {kLaunch, 22615, "", "launch, ns"},
                    {kFence, 3915, "", "a step of Simple, ns"},
                    {"ll_step", 1, "", "a step of LL, ns"},
                    {"ll128_step", 4151, "", "a step of LL128, ns"},
                    {"simple_post", 2203, "", "proxy, for a slice of Simple, ns", 2500},
                    {"message_post", 2107, "", "proxy, for a message, ns", 2000},
                    {"message_rate", 3.2, "", "a channel of messages, GB/s", 5}},
                   {{kChannelRate, 22, "", "a channel, GB/s"}}});
    all.back().nccl.has_amd_hosts = true;  // DGX A100
    return all;
  }();
  return machines;
}

namespace {

const SiliconMachine& machine_named(const std::string& name) {
  for (const SiliconMachine& machine : silicon_machines()) {
    if (name == machine.name) return machine;
  }
  throw std::logic_error("no machine is named " + name);
}

MachineOfRow apart(std::string why) { return {nullptr, std::move(why), false}; }

MachineOfRow hopper_row(const MeasuredRow& row) {
  if (row.machine == "example-cluster00") {
    return apart("NICs of about 100 Gb/s whose number and sharing are not known");
  }
  if (row.kind == "smoke") return apart("a smoke test of 5 iterations");
  if (row.servers == 1 && row.gpus_per_server == 8) return {&machine_named("8 x H100"), {}, false};
  if (row.servers == 10 && row.gpus_per_server == 8)
    return {&machine_named("10 x 8 H100"), {}, false};
  return apart("which GPUs and NICs of a server the job had is not known");
}

MachineOfRow alcf_row(const MeasuredRow& row) {
  const bool is_sophia = row.machine == "sophia";
  if (is_sophia && row.servers == 2 && row.gpus_per_server == 8) {
    return {&machine_named("Sophia, 2 nodes"), {}, false};
  }
  if (is_sophia) return apart("Sophia with other nodes than 2 of 8 GPUs");
  if (row.setting != "3" && row.setting != "4" && row.setting != "5") {
    return apart("the setting uses TCP sockets over the fabric");
  }
  if (!row.nccl.empty() && row.nccl != "2.18" && row.nccl != "2.21") {
    return apart("the tables of this version of NCCL are not known");
  }
  if (row.servers == 2) return {&machine_named("Polaris, 2 nodes"), {}, true};
  if (row.servers == 8) return {&machine_named("Polaris, 8 nodes"), {}, true};
  return apart("more than 256 GPUs on a shared dragonfly");
}

MachineOfRow mscclpp_row(const MeasuredRow& row) {
  const bool is_hopper = row.machine == "H100 (Azure NDv5)";
  if (!is_hopper && row.machine != "A100 (Azure NDmv4)") return apart("the machine is not known");
  if (row.op == MeasuredOp::all_gather && row.size < kSmallRows) {
    return apart("a kernel that hands its copies to the host");
  }
  if (row.servers > 2 || row.gpus_per_server != 8) return apart("other than one or two servers");
  const std::string generation = is_hopper ? "ND v5, " : "NDm v4, ";
  const char* servers = row.servers == 1 ? "1 server" : "2 servers";
  return {&machine_named(generation + servers + ", MSCCL++"), {}, false};
}

}  // namespace

MachineOfRow machine_of(const MeasuredRow& row) {
  if (row.machine.rfind("example-cluster", 0) == 0) return hopper_row(row);
  if (row.machine == "polaris" || row.machine == "sirius" || row.machine == "sophia") {
    return alcf_row(row);
  }
  if (!row.kernel.empty()) return mscclpp_row(row);
  return apart("the machine is not known");
}

}  // namespace espalier
