// A machine as NCCL sees it: what its search of the topology finds, the tables of its cost model,
// and what its kernels and proxies take. Presets and users' machine files have these numbers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/ids.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array<const char*, 3> kNcclProtocols{"LL", "LL128", "Simple"};

// The tables of src/graph/tuning.cc by the names of tuning.yaml: "tree/2.18/start".
using NcclTables = std::map<std::string, std::vector<double>>;

[[nodiscard]] std::string_view nccl_tuning_file();  // tuning.yaml

// Flits and headers on a link take a sixteenth more than the data (system.flow_control).
inline constexpr double kNcclOnWire = 17.0 / 16;

struct NcclMachine {
  std::string preset;  // of a step: system.preset as written
  std::string gpu;     // a row of the tables
  std::string version = "2.22";
  std::string hosts = "intel";
  std::string in_switch;  // the preset whose switch adds, for NVLS on one server
  std::string measured;   // how far times of this machine are off, for people
  double measured_servers = 0;
  double servers = 1;  // filled in from the network
  double gpus_per_server = 0;
  // What the search finds. Rates in GB/s, of one ring or one switch's tree.
  double channels = 0;       // of rings and of trees
  double found = 0;          // rings before NCCL duplicates them; 0: as many as channels
  double ring_rate = 0;      // inside a server
  double network_rate = 0;   // between servers; 0: the numbers are of one server
  double nvls_channels = 0;  // 0: the switch cannot add
  double nvls_rate = 0;
  bool has_ll128 = true;
  // What a step takes. Times in ns, rates in GB/s; validation/silicon says where they are from.
  double ll_step = 1;
  double ll128_step = 1300;
  double ll_rate = 0;  // of a channel; 0: as Simple
  double nvls_tree_rate = 0;
  double ll_post = 0;  // of a proxy, for a slot
  double simple_post = 0;
  double matched_post = 0;  // 0: as simple_post
  double tree_post = 0;     // 0: as simple_post
  bool host_matches = false;
  // Messages.
  double message_rate = 20;
  double message_post = 0;
  double inject_post = 0;
  double network_channels = 2;   // for a peer in another server, at most
  double exchange_rate = 0;      // of a GPU's links in an all_to_all; 0: as always
  double exchange_nic_rate = 0;  // of a NIC; 0: as always
  double peer_launch = 0;        // of the host, for each peer
  // The switch.
  double nvls_addition = 0;
  double nvls_start = 0;
  NcclTables tables;

  // A number, or an entry of a row. Precondition: the row exists.
  [[nodiscard]] double table(const std::string& row, std::size_t entry = 0) const {
    return tables.at(row).at(entry);
  }
  [[nodiscard]] double ranks() const { return servers * gpus_per_server; }
  [[nodiscard]] double rings() const { return found != 0 ? found : channels; }

  // The rings of one server, whose GPUs have NVLinks of so many GB/s each.
  void find_rings_of_server(double nvlinks);
  // The machine that a communicator of a step finds: `gpus` GPUs in each of `count` servers.
  // Precondition: several servers only where the machine's numbers are of several.
  [[nodiscard]] NcclMachine for_group(std::uint32_t count, std::uint32_t gpus,
                                      double nvlinks) const;
};

// Sets the numbers that `node` gives, and leaves the others. Its key `tuning` has the form of
// tuning.yaml and replaces rows of the machine's tables. Errors call the node `name`.
void read_nccl_machine(const ConfigNode& node, const std::string& name, NcclMachine& machine,
                       Diagnostics& diagnostics);

// Records an error at `place` if numbers that NCCL needs are missing or contradict each other.
void check_nccl_machine(const NcclMachine& machine, const Place& place, Diagnostics& diagnostics);

}  // namespace espalier
