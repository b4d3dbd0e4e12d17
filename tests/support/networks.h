// Networks of every family, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/topology/families/family.h"
#include "hw/topology/topology.h"

namespace espalier {

using KeyValues = std::vector<std::pair<std::string, std::vector<std::uint64_t>>>;

inline NetworkSpec network_spec(const std::string& family, const KeyValues& values) {
  NetworkSpec spec;
  spec.type = family;
  for (const auto& [key, value] : values) spec.set(key, value);
  return spec;
}

inline Topology make_torus(const std::vector<std::uint32_t>& dims, LinkSpec link) {
  return make_network(network_spec("torus", {{"dims", {dims.begin(), dims.end()}}}), link);
}
inline Topology make_mesh(const std::vector<std::uint32_t>& dims, LinkSpec link) {
  return make_network(network_spec("mesh", {{"dims", {dims.begin(), dims.end()}}}), link);
}
inline Topology make_grid(const KeyValues& values, LinkSpec link) {
  return make_network(network_spec("grid", values), link);
}
inline Topology make_fully_connected(std::uint32_t nodes, LinkSpec link) {
  return make_network(network_spec("fully_connected", {{"nodes", {nodes}}}), link);
}
inline Topology make_single_switch(std::uint32_t nodes, LinkSpec link) {
  return make_network(network_spec("switch", {{"nodes", {nodes}}}), link);
}
// Nodes that are linked to each of some switches, at rates in GB/s.
inline Topology make_switch_planes(std::size_t nodes, const std::vector<std::uint64_t>& rates) {
  Topology topology("planes");
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node("n" + std::to_string(n));
  for (std::size_t s = 0; s < rates.size(); ++s) {
    const NodeId at = topology.add_switch("s" + std::to_string(s));
    for (std::size_t n = 0; n < nodes; ++n) {
      add_cable(topology, NodeId(n), at, {25'000, rates[s] * 1'000'000'000});
    }
  }
  return topology;
}
inline Topology make_switch_pair(std::uint32_t nodes_per_switch, LinkSpec link) {
  return make_network(network_spec("dgx2", {{"nodes_per_switch", {nodes_per_switch}}}), link);
}
inline Topology make_fat_tree(std::uint32_t nodes_per_switch, std::uint32_t switches,
                              std::uint32_t spines, LinkSpec link) {
  return make_network(network_spec("fat_tree", {{"nodes_per_switch", {nodes_per_switch}},
                                                {"switches", {switches}},
                                                {"spines", {spines}}}),
                      link);
}
inline Topology make_bigraph(std::uint32_t nodes_per_switch, std::uint32_t switches,
                             LinkSpec link) {
  return make_network(
      network_spec("bigraph", {{"nodes_per_switch", {nodes_per_switch}}, {"switches", {switches}}}),
      link);
}
inline Topology make_dragonfly(std::uint32_t nodes_per_switch, std::uint32_t group_size,
                               std::uint32_t groups, LinkSpec link) {
  return make_network(network_spec("dragonfly", {{"nodes_per_switch", {nodes_per_switch}},
                                                 {"group_size", {group_size}},
                                                 {"groups", {groups}}}),
                      link);
}

struct ClusterCounts {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  std::uint32_t gpus_per_nic_group = 1;
  std::uint32_t nics_per_group = 1;
};
inline Topology make_gpu_cluster(const ClusterCounts& counts, LinkSpec link, LinkSpec nic_link) {
  return make_network(
      network_spec("gpu_cluster", {{"servers", {counts.servers}},
                                   {"gpus_per_server", {counts.gpus_per_server}},
                                   {"gpus_per_nic_group", {counts.gpus_per_nic_group}},
                                   {"nics_per_group", {counts.nics_per_group}},
                                   {"nic_link.latency", {nic_link.latency_ps}},
                                   {"nic_link.bandwidth", {nic_link.bytes_per_second}}}),
      link);
}

struct CenterCounts {
  std::uint32_t pods = 1;
  std::uint32_t racks_per_pod = 1;
  std::uint32_t hosts_per_rack = 1;
  std::uint32_t rack_uplinks = 1;
  std::uint32_t aggregations_per_pod = 1;
  std::uint32_t aggregation_uplinks = 1;
  std::uint32_t cores = 1;
  std::uint64_t ecmp_seed = 0;
  std::uint32_t nodes = 2;
  std::uint64_t placement_seed = 1;
  std::uint64_t placement = 2;  // packed, spread, random
};
struct CenterLinks {
  LinkSpec rack;
  LinkSpec aggregation;
  LinkSpec core;
};
inline Topology make_data_center(const CenterCounts& counts, const CenterLinks& links) {
  return make_network(
      network_spec("data_center",
                   {{"nodes", {counts.nodes}},
                    {"pods", {counts.pods}},
                    {"racks_per_pod", {counts.racks_per_pod}},
                    {"hosts_per_rack", {counts.hosts_per_rack}},
                    {"rack_uplinks", {counts.rack_uplinks}},
                    {"aggregations_per_pod", {counts.aggregations_per_pod}},
                    {"aggregation_uplinks", {counts.aggregation_uplinks}},
                    {"cores", {counts.cores}},
                    {"ecmp_seed", {counts.ecmp_seed}},
                    {"placement", {counts.placement}},
                    {"placement_seed", {counts.placement_seed}},
                    {"aggregation_link.latency", {links.aggregation.latency_ps}},
                    {"aggregation_link.bandwidth", {links.aggregation.bytes_per_second}},
                    {"core_link.latency", {links.core.latency_ps}},
                    {"core_link.bandwidth", {links.core.bytes_per_second}}}),
      links.rack);
}

// The switch of a node, or the rack of its host, counted from 0.
inline std::size_t switch_of(const Topology& topology, NodeId node) {
  return topology.link(topology.out_links(node).front()).to.index() - topology.num_nodes();
}

inline std::uint32_t vc_classes(const Topology& topology) {
  return topology.shape().vc_classes.all;
}
inline std::uint32_t least_vc_classes(const Topology& topology) {
  return topology.shape().vc_classes.least;
}

}  // namespace espalier
