#include "sims/model/build_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "sims/formats/topology_file.h"
#include "sims/model/build_dimensions.h"
#include "sims/point/system_config.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

using Kind = TopologyKind;

// The size of a network, computed before anything is built. The types are wide enough for any
// counts that the keys allow.
struct NetworkSize {
  std::string shape;  // "fat_tree with 8 nodes on each of 8 switches"
  std::uint64_t nodes = 0;
  std::uint64_t links = 0;
  std::uint64_t most_ports = 0;  // of a single router
};

NetworkSize size_of_grid(const TopologyConfig& c) {
  NetworkSize size;
  size.shape = fmt::format("{}", fmt::join(c.dims, "x"));
  size.nodes = 1;
  for (const std::uint32_t side : c.dims) size.nodes *= side;
  size.most_ports = 2 * c.dims.size();
  size.links = size.nodes * size.most_ports;
  return size;
}

// Networks of leaf switches, each with `peers` links to other switches.
NetworkSize size_of_leaves(const TopologyConfig& c, std::uint64_t leaves, std::uint64_t peers) {
  NetworkSize size;
  size.nodes = leaves * c.nodes_per_switch;
  size.links = 2 * size.nodes + leaves * peers;
  size.most_ports = c.nodes_per_switch + peers;
  return size;
}

NetworkSize size_of_cluster(const TopologyConfig& c) {
  NetworkSize size;
  size.shape = fmt::format("gpu_cluster {}x{}", c.servers, c.gpus_per_server);
  size.nodes = std::uint64_t{c.servers} * c.gpus_per_server;
  size.links = 2 * size.nodes;
  size.most_ports = c.gpus_per_server;
  if (c.servers == 1) return size;
  const std::uint64_t nics = size.nodes / c.gpus_per_nic_group * c.nics_per_group;
  size.links += 2 * (size.nodes * c.nics_per_group + nics);
  size.most_ports = std::max({size.most_ports, nics, std::uint64_t{c.gpus_per_nic_group} + 1,
                              std::uint64_t{c.nics_per_group} + 1});  // the fabric, a NIC, a GPU
  return size;
}

NetworkSize size_of_center(const TopologyConfig& c) {
  const std::uint64_t racks = std::uint64_t{c.pods} * c.racks_per_pod;
  const std::uint64_t pod_uplinks = std::uint64_t{c.aggregations_per_pod} * c.aggregation_uplinks;
  NetworkSize size;
  size.shape = fmt::format("data_center {}x{}x{}", c.pods, c.racks_per_pod, c.hosts_per_rack);
  size.nodes = c.nodes;
  size.links = 2 * (size.nodes + racks * c.rack_uplinks + c.pods * pod_uplinks);
  size.most_ports =
      std::max({std::uint64_t{c.hosts_per_rack} + c.rack_uplinks,  // a ToR
                std::uint64_t{c.racks_per_pod} * c.rack_uplinks / c.aggregations_per_pod +
                    c.aggregation_uplinks,
                c.pods * pod_uplinks / c.cores + c.pods});
  return size;
}

NetworkSize size_of(const TopologyConfig& c) {
  switch (c.kind) {
    case Kind::fully_connected:
      return {fmt::format("fully_connected {}", c.nodes), c.nodes,
              std::uint64_t{c.nodes} * (c.nodes - 1), std::uint64_t{c.nodes} - 1};
    case Kind::single_switch:
      return {fmt::format("switch {}", c.nodes), c.nodes, 2 * std::uint64_t{c.nodes}, c.nodes};
    case Kind::dgx2: {
      NetworkSize size = size_of_leaves(c, 2, c.nodes_per_switch);
      size.shape = fmt::format("dgx2 {}x2", c.nodes_per_switch);
      return size;
    }
    case Kind::fat_tree: {
      NetworkSize size = size_of_leaves(c, c.switches, 2 * std::uint64_t{c.spines});
      size.shape = fmt::format("fat_tree {}x{}x{}", c.nodes_per_switch, c.switches, c.spines);
      size.most_ports = std::max<std::uint64_t>(c.nodes_per_switch + std::uint64_t{c.spines},
                                                c.switches);  // a leaf, a spine
      return size;
    }
    case Kind::bigraph: {
      NetworkSize size = size_of_leaves(c, c.switches, c.switches / 2);
      size.shape = fmt::format("bigraph {}x{}", c.nodes_per_switch, c.switches);
      return size;
    }
    case Kind::dragonfly: {
      const std::uint64_t global = (c.groups - 1 + c.group_size - 1) / c.group_size;
      NetworkSize size =
          size_of_leaves(c, std::uint64_t{c.group_size} * c.groups, c.group_size - 1 + global);
      size.shape = fmt::format("dragonfly {}x{}x{}", c.nodes_per_switch, c.group_size, c.groups);
      // An upper bound: some switches may have one global link less.
      size.links = 2 * size.nodes + std::uint64_t{c.group_size} * c.groups * (c.group_size - 1) +
                   std::uint64_t{c.groups} * (c.groups - 1);
      return size;
    }
    case Kind::gpu_cluster:
      return size_of_cluster(c);
    case Kind::data_center:
      return size_of_center(c);
    case Kind::torus:
    case Kind::mesh:
    case Kind::file:
    case Kind::anynet:
    case Kind::dimensions:
    case Kind::astra_network:
      break;
  }
  return size_of_grid(c);
}

bool has_whole_groups(const TopologyConfig& config, const Place& place, Diagnostics& diagnostics) {
  if (config.gpus_per_server % config.gpus_per_nic_group == 0) return true;
  diagnostics.error(
      place,
      fmt::format("system.topology.gpus_per_server: {} is not a multiple of the {} "
                  "GPUs that share NICs (system.topology.gpus_per_nic_group)",
                  config.gpus_per_server, config.gpus_per_nic_group),
      fmt::format("for example {}",
                  (std::uint64_t{config.gpus_per_server} / config.gpus_per_nic_group + 1) *
                      config.gpus_per_nic_group));
  return false;
}

bool is_whole_center(const TopologyConfig& c, const Place& place, Diagnostics& diagnostics) {
  const std::uint64_t hosts = std::uint64_t{c.pods} * c.racks_per_pod * c.hosts_per_rack;
  const std::uint64_t pod_uplinks = std::uint64_t{c.aggregations_per_pod} * c.aggregation_uplinks;
  if (c.nodes > hosts) {
    diagnostics.error(place,
                      fmt::format("system.topology.nodes: {} nodes do not fit on the {} hosts of "
                                  "{} x {} x {} (pods, racks_per_pod, hosts_per_rack)",
                                  c.nodes, hosts, c.pods, c.racks_per_pod, c.hosts_per_rack),
                      fmt::format("at most {}", hosts));
    return false;
  }
  if (c.rack_uplinks % c.aggregations_per_pod != 0) {
    diagnostics.error(place,
                      fmt::format("system.topology.rack_uplinks: {} is not a multiple of the {} "
                                  "aggregation switches (system.topology.aggregations_per_pod)",
                                  c.rack_uplinks, c.aggregations_per_pod),
                      fmt::format("for example {}", (c.rack_uplinks / c.aggregations_per_pod + 1) *
                                                        c.aggregations_per_pod));
    return false;
  }
  if (c.pods > 1 && c.cores > pod_uplinks) {
    diagnostics.error(place,
                      fmt::format("system.topology.cores: {} cores exceed the {} x {} uplinks of a "
                                  "pod (aggregations_per_pod, aggregation_uplinks)",
                                  c.cores, c.aggregations_per_pod, c.aggregation_uplinks),
                      fmt::format("at most {}", pod_uplinks));
    return false;
  }
  return true;
}

bool check_size(const TopologyConfig& config, const Place& place, Diagnostics& diagnostics) {
  if (config.kind == Kind::gpu_cluster && !has_whole_groups(config, place, diagnostics)) {
    return false;
  }
  if (config.kind == Kind::data_center && !is_whole_center(config, place, diagnostics)) {
    return false;
  }
  const NetworkSize size = size_of(config);
  if (size.nodes < 2) {
    diagnostics.error(
        place, fmt::format("a network needs at least 2 nodes; {} has {}", size.shape, size.nodes),
        config.kind == Kind::gpu_cluster ? "for example 8" : "for example [4, 4]");
    return false;
  }
  const auto too_many = [&](std::uint64_t count, std::uint64_t most, const char* of_what) {
    if (count <= most) return false;
    diagnostics.error(place, fmt::format("{} has {} {}; allowed are at most {}", size.shape, count,
                                         of_what, most));
    return true;
  };
  if (too_many(size.nodes, kMostNodes, "nodes") || too_many(size.links, kMostLinks, "links") ||
      too_many(size.most_ports, config.kind == Kind::gpu_cluster ? kMostFabricPorts : kMostPorts,
               "ports at one router")) {
    return false;
  }
  if (config.kind == Kind::bigraph && config.switches % 2 != 0) {
    diagnostics.error(place,
                      fmt::format("system.topology.switches: a BiGraph needs an even number of "
                                  "switches, half of them on either side; found {}",
                                  config.switches),
                      fmt::format("for example {}", config.switches + 1));
    return false;
  }
  return true;
}

// A value of 0 is taken from `link`.
LinkSpec own_link(std::uint64_t latency_ps, std::uint64_t bytes_per_second, LinkSpec link) {
  if (latency_ps != 0) link.latency_ps = latency_ps;
  if (bytes_per_second != 0) link.bytes_per_second = bytes_per_second;
  return link;
}

DataCenterShape center_shape(const TopologyConfig& c) {
  return {c.pods,
          c.racks_per_pod,
          c.hosts_per_rack,
          c.rack_uplinks,
          c.aggregations_per_pod,
          c.aggregation_uplinks,
          c.cores,
          c.ecmp_seed,
          place_nodes(c.placement, c.nodes, c.pods * c.racks_per_pod, c.hosts_per_rack,
                      c.placement_seed)};
}

Topology build_shape(const TopologyConfig& c, LinkSpec link) {
  switch (c.kind) {
    case Kind::torus:
      return make_torus(c.dims, link);
    case Kind::mesh:
      return make_mesh(c.dims, link);
    case Kind::fully_connected:
      return make_fully_connected(c.nodes, link);
    case Kind::single_switch:
      return make_single_switch(c.nodes, link);
    case Kind::dgx2:
      return make_switch_pair(c.nodes_per_switch, link);
    case Kind::fat_tree:
      return make_fat_tree(c.nodes_per_switch, c.switches, c.spines, link);
    case Kind::bigraph:
      return make_bigraph(c.nodes_per_switch, c.switches, link);
    case Kind::dragonfly:
      return make_dragonfly(c.nodes_per_switch, c.group_size, c.groups, link);
    case Kind::gpu_cluster:
      return make_gpu_cluster(
          {c.servers, c.gpus_per_server, c.gpus_per_nic_group, c.nics_per_group}, link,
          own_link(c.nic_link_latency_ps, c.nic_link_bytes_per_second, link));
    case Kind::data_center:
      return make_data_center(center_shape(c), data_center_links(c, link));
    case Kind::file:
    case Kind::anynet:
    case Kind::dimensions:
    case Kind::astra_network:
      break;
  }
  throw std::invalid_argument("a network from a file has no builder");
}

std::optional<Topology> read_graph(const SystemConfig& system, bool clock_valid, const Place& place,
                                   Diagnostics& diagnostics) {
  const std::string path = topology_file_path(system.topology);
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return std::nullopt;
  TopologyFileContext context;
  context.default_link = system.link;
  context.flow_control = system.flow_control;
  if (clock_valid) context.clock = system.clock;
  return system.topology.kind == Kind::anynet ? parse_anynet(path, *text, context, diagnostics)
                                              : parse_topology(path, *text, context, diagnostics);
}

}  // namespace

DataCenterLinks data_center_links(const TopologyConfig& config, LinkSpec link) {
  return {
      link,
      own_link(config.aggregation_link_latency_ps, config.aggregation_link_bytes_per_second, link),
      own_link(config.core_link_latency_ps, config.core_link_bytes_per_second, link)};
}

Oversubscription oversubscription(const SystemConfig& system) {
  return oversubscription(center_shape(system.topology),
                          data_center_links(system.topology, system.link));
}

std::uint64_t fastest_link(const SystemConfig& system) {
  const TopologyConfig& config = system.topology;
  std::uint64_t fastest = system.link.bytes_per_second;
  if (config.kind == Kind::gpu_cluster) {
    fastest = std::max(fastest, config.nic_link_bytes_per_second);
  }
  if (config.kind == Kind::data_center) {
    fastest = std::max(
        {fastest, config.aggregation_link_bytes_per_second, config.core_link_bytes_per_second});
  }
  if (config.kind != Kind::file) return fastest;
  Diagnostics unheard;
  const Place nowhere{unheard.add_file(config.file, ""), 0, 0};
  if (const auto graph = read_graph(system, false, nowhere, unheard)) {
    for (const TopologyLink& link : graph->links()) {
      fastest = std::max(fastest, link.spec.bytes_per_second);
    }
  }
  return fastest;
}

std::string topology_file_path(const TopologyConfig& config) {
  return (std::filesystem::path(config.folder) / config.file).string();
}

std::optional<Topology> build_topology(const SystemConfig& system, bool clock_valid,
                                       const Place& place, const Place& parts_place,
                                       Diagnostics& diagnostics) {
  if (system.topology.is_dimensional()) return make_dimensions(dimension_specs(system));
  std::optional<Topology> whole;
  if (system.topology.from_file()) {
    whole = read_graph(system, clock_valid, place, diagnostics);
  } else if (check_size(system.topology, place, diagnostics)) {
    whole = build_shape(system.topology, system.link);
  }
  if (!whole || system.topology.without.empty()) return whole;
  return without_broken(*whole, system.topology.without, parts_place, diagnostics);
}

Topology build_topology(const SystemConfig& system) {
  Diagnostics diagnostics;
  const Place nowhere{diagnostics.add_file("system.topology", ""), 0, 0};
  auto topology = build_topology(system, true, nowhere, nowhere, diagnostics);
  if (!topology) throw std::invalid_argument(diagnostics.text());
  return std::move(*topology);
}

}  // namespace espalier
