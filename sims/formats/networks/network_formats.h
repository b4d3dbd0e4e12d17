// Every file format that describes a network: one row each (network_formats.cpp). A file's format
// is recognised by its contents, never by its name.
#pragma once

#include <optional>
#include <string>

#include "hw/topology/families/family.h"
#include "hw/topology/topology.h"
#include "sims/formats/networks/drawn_network.h"
#include "sims/formats/topology_file.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// The word for system.topology.type of a configuration that names a file with this text: that of
// BookSim's anynet, of ASTRA-sim's network.yml, else of a file. Empty: the text is no network.
[[nodiscard]] std::string network_type(const std::string& text);

// Reads a file of any format but ASTRA-sim's network.yml. A text of no known format is read as our
// own graph, whose reader says what is wrong with it.
[[nodiscard]] std::optional<Topology> read_network(const std::string& file_name,
                                                   const std::string& text,
                                                   const TopologyFileContext& context,
                                                   Diagnostics& diagnostics);

// Readers of other tools' formats. They add the file to the diagnostics and report mistakes there.
using ReadDrawn = void (*)(const std::string& file_name, const std::string& text,
                           DrawnNetwork& drawn, Diagnostics& diagnostics);

// <system> of NCCL and RCCL: accelerators are its GPUs; NVLinks, xGMI, PCIe and links of CPUs are
// as fast as NCCL assumes (its src/graph/topo.h).
void read_nccl_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                        Diagnostics& diagnostics);
// A server of GPUs behind switches as NCCL's <system> describes it, for NCCL's choice. Rates in
// GB/s.
struct NcclServer {
  Place place;  // of the file
  std::size_t gpus = 0;
  std::uint64_t sm = 0;  // compute capability of its GPUs; 0: not in the file
  double nvlinks = 0;    // all NVLinks of a GPU; 0: not in the file
  std::size_t nics = 0;  // the fastest, at most one for each GPU
  double nic_rate = 0;   // of their cables
  double nic_pcie = 0;   // as NCCL counts PCIe: 16/21 of what it carries
  bool is_amd_host = false;
};
// Returns nothing after an error, also if the GPUs are not alike or NVLinks join them directly.
[[nodiscard]] std::optional<NcclServer> read_nccl_server(const std::string& file_name,
                                                         const std::string& text,
                                                         Diagnostics& diagnostics);
// Keysight's InfraGraph, schema 3: accelerators are components of choice xpu. Links without a
// physical bandwidth have the rate of what their name or description mentions.
void read_infragraph(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                     Diagnostics& diagnostics);
// ns-3 (HPCC, ASTRA-sim): "nodes switches links", numbers of the switches, and for each link
// "source destination 200Gbps 0.0005ms error_rate". SimAI's first line is "nodes gpus_per_server
// nvswitches other_switches links gpu_type".
void read_ns3_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                       Diagnostics& diagnostics);
// htsim's fat trees: Nodes, Tiers, Podsize, and for each Tier from the nodes upwards
// Downlink_speed_Gbps, Downlink_Latency_ns, Switch_Latency_ns, Radix_Down, Radix_Up, Bundle (links
// between a switch and one above it).
void read_htsim_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                         Diagnostics& diagnostics);
// Slurm's topology.conf (plug-in tree), also as NVIDIA's topograph writes it. Each host is an
// accelerator. LinkSpeed is ignored: its unit is arbitrary.
void read_slurm_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                         Diagnostics& diagnostics);
// Tenstorrent's mesh graph descriptors, as a protobuf text or as the older YAML: one mesh or torus.
void read_mesh_descriptor(const std::string& file_name, const std::string& text,
                          DrawnNetwork& drawn, Diagnostics& diagnostics);
// NetworkX: write_edgelist, write_weighted_edgelist, node_link_data as JSON, GraphML. Each vertex
// is an accelerator. weight, capacity or bandwidth of an edge is in GB/s, latency in ns.
void read_edge_list(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                    Diagnostics& diagnostics);
void read_node_link(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                    Diagnostics& diagnostics);
void read_graphml(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                  Diagnostics& diagnostics);

// For readers. Rates that NCCL assumes are tenths of a GB/s.
inline constexpr std::uint64_t kTenth = 100'000'000;
// The value of a number with a unit, as exactly as its base unit allows; reports
// anything else. `suffix` is a unit behind a plain number.
[[nodiscard]] std::uint64_t quantity_of(Quantity quantity, const std::string& text,
                                        const char* suffix, const Place& place,
                                        Diagnostics& diagnostics);
// The value of a mapping's key. A null node if it has no such key: without text and items.
[[nodiscard]] const ConfigNode& value_at(const ConfigNode& node, const char* key);
// The number from `min` to `max`; `min` after an error.
[[nodiscard]] std::uint64_t number_of(const ConfigNode& word, const std::string& what,
                                      std::uint64_t min, std::uint64_t max,
                                      Diagnostics& diagnostics);

}  // namespace espalier
