// Sections system.topology and system.dimensions as written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/plans/dimension_stage.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/topology.h"

namespace espalier {

enum class TopologyKind : std::uint8_t {
  torus,
  mesh,
  fully_connected,
  single_switch,  // "switch"
  dgx2,           // a pair of switches
  fat_tree,
  bigraph,
  dragonfly,
  gpu_cluster,   // servers of GPUs with NICs
  data_center,   // racks of hosts, of which the job has some
  file,          // a graph
  anynet,        // a graph in BookSim's format
  dimensions,    // a multi-dimensional system
  astra_network  // the same, from a file of ASTRA-sim
};

// Vertices' names as written. A program that links the library attaches its own SystemC modules in
// place of the named routers and of the named nodes' NIs (sims/system/elaboration.h).
struct ExternalConfig {
  std::vector<std::string> routers;
  std::vector<std::string> nis;

  [[nodiscard]] bool any() const { return !routers.empty() || !nis.empty(); }
};

struct TopologyConfig {
  TopologyKind kind = TopologyKind::torus;
  std::vector<std::uint32_t> dims;     // {X, Y, Z}; torus and mesh
  std::uint32_t nodes = 2;             // fully_connected, single_switch, data_center
  std::uint32_t nodes_per_switch = 1;  // of leaf switches; dgx2, fat_tree, bigraph, dragonfly
  std::uint32_t switches = 2;          // fat_tree: leaves; bigraph: of both sides
  std::uint32_t spines = 1;            // fat_tree
  std::uint32_t group_size = 1;        // dragonfly: switches per group
  std::uint32_t groups = 2;            // dragonfly
  // gpu_cluster
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 2;
  std::uint32_t gpus_per_nic_group = 1;
  std::uint32_t nics_per_group = 1;
  std::uint64_t nic_link_latency_ps = 0;        // 0 ("link"): as system.link
  std::uint64_t nic_link_bytes_per_second = 0;  // 0 ("link"): as system.link
  // data_center
  std::uint32_t pods = 1;
  std::uint32_t racks_per_pod = 1;
  std::uint32_t hosts_per_rack = 1;
  std::uint32_t rack_uplinks = 1;
  std::uint32_t aggregations_per_pod = 1;
  std::uint32_t aggregation_uplinks = 1;
  std::uint32_t cores = 1;
  Placement placement = Placement::random;
  std::uint64_t placement_seed = 1;
  std::uint64_t ecmp_seed = 1;
  // 0 ("link"): as system.link
  std::uint64_t aggregation_link_latency_ps = 0;
  std::uint64_t aggregation_link_bytes_per_second = 0;
  std::uint64_t core_link_latency_ps = 0;
  std::uint64_t core_link_bytes_per_second = 0;
  // file, anynet, astra_network: path as written, relative to `folder`
  std::string file;
  std::string folder;                // of the configuration; empty: the current one
  std::vector<std::string> without;  // parts that are taken out: "node 5", "link 3-4", as written
  ExternalConfig external;

  [[nodiscard]] bool from_file() const {
    return kind == TopologyKind::file || kind == TopologyKind::anynet ||
           kind == TopologyKind::astra_network;
  }
  [[nodiscard]] bool is_dimensional() const {
    return kind == TopologyKind::dimensions || kind == TopologyKind::astra_network;
  }
};

// A multi-dimensional system as written in the file. Lists have an entry for each dimension; 0 and
// an empty list stand for "auto". sims/model/build_dimensions.h computes the real values.
struct DimensionsConfig {
  std::vector<DimensionShape> shape;
  std::vector<std::uint32_t> size;              // NPUs of a group
  std::vector<std::uint32_t> links;             // links that leave an NPU
  std::vector<std::uint64_t> bytes_per_second;  // of one link
  std::vector<std::uint64_t> latency_ps;        // NPU to NPU, of a minimal message
  std::vector<std::uint32_t> flit_bytes;
  std::uint32_t packet_flits = 16;  // payload of a packet or sub-packet, in every dimension
  std::vector<std::uint32_t> vc_depth_flits;
  std::vector<std::optional<DimensionAlgorithm>> algorithm;
  // What a port of a switch with in_network adds in a cycle. 0 ("ni"): as ni.reduction says.
  std::uint64_t switch_bytes_per_cycle = 0;
};

}  // namespace espalier
