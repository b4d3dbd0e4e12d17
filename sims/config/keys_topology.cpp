#include "sims/config/keys_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sims/config/key_builders.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

using Kind = TopologyKind;

constexpr const char* kTypeKey = "system.topology.type";
constexpr std::uint64_t kLargestCount = 65536;

Key type_key() {
  Key key;
  key.name = kTypeKey;
  key.shape.type = ValueType::name;
  key.shape.names = all_names<Kind>();
  key.description = "shape of the network (espalier list topologies)";
  key.required = true;
  key.set = [](RunPoint& point, const Value& value) {
    point.system.topology.kind = static_cast<Kind>(value.number);
  };
  key.get = [](const RunPoint& point) {
    Value value;
    value.number = static_cast<std::uint64_t>(point.system.topology.kind);
    return value;
  };
  return key;
}

// A key that some types of networks take and no other.
Key taken_by(const std::vector<Kind>& kinds, Key key) {
  std::vector<std::string> names;
  names.reserve(kinds.size());
  for (const Kind kind : kinds) names.emplace_back(name_of(kind));
  const std::string last = names.back();
  names.pop_back();
  key.exclusive = true;
  key.applies_to = kTypeKey;
  key.applies_when = fmt::format("{} is {}{}{}", kTypeKey, fmt::join(names, ", "),
                                 names.empty() ? "" : " or ", last);
  key.applies = [kinds](const RunPoint& point) {
    return std::find(kinds.begin(), kinds.end(), point.system.topology.kind) != kinds.end();
  };
  return key;
}

// And that they cannot do without.
Key needed_by(const std::vector<Kind>& kinds, Key key) {
  key.required = true;
  return taken_by(kinds, std::move(key));
}

Key dims_key() {
  Key key;
  key.name = "system.topology.dims";
  key.shape.type = ValueType::dims;
  key.shape.min = 1;
  key.shape.max = kLargestCount;
  key.description = "nodes in X, Y and Z";
  key.set = [](RunPoint& point, const Value& value) { point.system.topology.dims = value.dims; };
  key.get = [](const RunPoint& point) {
    Value value;
    value.dims = point.system.topology.dims;
    return value;
  };
  return key;
}

Key count_key(const char* name, std::uint64_t min, const char* description,
              std::uint32_t TopologyConfig::*member) {
  Key key;
  key.name = std::string("system.topology.") + name;
  key.shape.min = min;
  key.shape.max = kLargestCount;
  key.description = description;
  key.set = [member](RunPoint& point, const Value& value) {
    point.system.topology.*member = static_cast<std::uint32_t>(value.number);
  };
  key.get = [member](const RunPoint& point) {
    Value value;
    value.number = point.system.topology.*member;
    return value;
  };
  return key;
}

Key graph_file_key() {
  Key key;
  key.name = "system.topology.file";
  key.shape.type = ValueType::text;
  key.description =
      "graph of nodes, switches and links (anynet: in BookSim's format; astra_network: ASTRA-sim's "
      "network.yml), relative to this file's folder";
  key.set = [](RunPoint& point, const Value& value) { point.system.topology.file = value.text; };
  key.get = [](const RunPoint& point) {
    Value value;
    value.text = point.system.topology.file;
    return value;
  };
  return key;
}

// As system.link's, unless they are given.
Key link_latency_key(const char* link, const std::string& description,
                     std::uint64_t TopologyConfig::*member) {
  return key_builders::or_word(
      key_builders::number_key(
          ValueType::time, fmt::format("system.topology.{}.latency", link), 1, kSecond,
          description + "; link: system.link.latency",
          [member](auto& point) -> auto& { return point.system.topology.*member; }),
      "link");
}
Key link_bandwidth_key(const char* link, const std::string& description,
                       std::uint64_t TopologyConfig::*member) {
  return key_builders::or_word(
      key_builders::number_key(
          ValueType::rate, fmt::format("system.topology.{}.bandwidth", link), 1'000,
          1'000 * kSecond, description + "; link: system.link.bandwidth",
          [member](auto& point) -> auto& { return point.system.topology.*member; }),
      "link");
}

void add_cluster_keys(std::vector<Key>& table) {
  using Config = TopologyConfig;
  const std::vector<Kind> clusters{Kind::gpu_cluster};
  table.push_back(needed_by(
      clusters, count_key("servers", 1, "each with a switch between its GPUs", &Config::servers)));
  table.push_back(needed_by(clusters, count_key("gpus_per_server", 1, "accelerators of a server",
                                                &Config::gpus_per_server)));
  table.push_back(
      taken_by(clusters, count_key("gpus_per_nic_group", 1,
                                   "neighbouring GPUs of a server that share NICs; each server "
                                   "has a whole number of such groups",
                                   &Config::gpus_per_nic_group)));
  table.push_back(
      taken_by(clusters, count_key("nics_per_group", 1,
                                   "NICs of a group, each linked to its GPUs and to the fabric; "
                                   "a single server has none",
                                   &Config::nics_per_group)));
  table.push_back(
      taken_by(clusters, link_latency_key("nic_link", "from GPU to NIC, and from NIC to fabric",
                                          &Config::nic_link_latency_ps)));
  table.push_back(taken_by(
      clusters, link_bandwidth_key(
                    "nic_link", "of one direction, between GPU and NIC and between NIC and fabric",
                    &Config::nic_link_bytes_per_second)));
}

Key seed_key(const char* name, const char* description, std::uint64_t TopologyConfig::*member) {
  return key_builders::integer_key(
      std::string("system.topology.") + name, 0, std::numeric_limits<std::uint64_t>::max(),
      description, [member](auto& point) -> auto& { return point.system.topology.*member; });
}

void add_placement_keys(std::vector<Key>& table) {
  const std::vector<Kind> centers{Kind::data_center};
  table.push_back(taken_by(
      centers, key_builders::choice_key<Placement>(
                   "system.topology.placement",
                   "of nodes on hosts; packed: rack after rack is filled; spread: node i in rack i "
                   "mod racks; random: on any hosts, as in a provider's list of addresses",
                   [](auto& point) -> auto& { return point.system.topology.placement; })));
  table.push_back(taken_by(centers, seed_key("placement_seed", "of a random placement",
                                             &TopologyConfig::placement_seed)));
  table.push_back(taken_by(
      centers, seed_key("ecmp_seed", "of the hash by which switches choose among equal paths",
                        &TopologyConfig::ecmp_seed)));
}

void add_center_keys(std::vector<Key>& table) {
  using Config = TopologyConfig;
  const std::vector<Kind> centers{Kind::data_center};
  const auto add = [&](const char* name, const char* description, std::uint32_t Config::*member) {
    table.push_back(taken_by(centers, count_key(name, 1, description, member)));
  };
  const auto add_needed = [&](const char* name, const char* description,
                              std::uint32_t Config::*member) {
    table.push_back(needed_by(centers, count_key(name, 1, description, member)));
  };
  add("pods", "with core switches between them; a single one has none", &Config::pods);
  add_needed("racks_per_pod", "each with a top-of-rack switch (ToR)", &Config::racks_per_pod);
  add_needed("hosts_per_rack", "slots for nodes; what no node is on is other tenants'",
             &Config::hosts_per_rack);
  add_needed("rack_uplinks", "links of a ToR to its pod's aggregation switches, in turn",
             &Config::rack_uplinks);
  add("aggregations_per_pod", "aggregation switches; a divisor of rack_uplinks",
      &Config::aggregations_per_pod);
  add("aggregation_uplinks", "links of an aggregation switch to cores, in turn",
      &Config::aggregation_uplinks);
  add("cores", "switches between pods; at most a pod's uplinks", &Config::cores);
  const char* const rack = "of one direction, between ToR and aggregation switch";
  const char* const core = "of one direction, between aggregation switch and core";
  table.push_back(taken_by(
      centers, link_latency_key("aggregation_link", rack, &Config::aggregation_link_latency_ps)));
  table.push_back(taken_by(
      centers,
      link_bandwidth_key("aggregation_link", rack, &Config::aggregation_link_bytes_per_second)));
  table.push_back(
      taken_by(centers, link_latency_key("core_link", core, &Config::core_link_latency_ps)));
  table.push_back(taken_by(
      centers, link_bandwidth_key("core_link", core, &Config::core_link_bytes_per_second)));
  add_placement_keys(table);
}

}  // namespace

void add_topology_keys(std::vector<Key>& table) {
  table.push_back(type_key());
  table.push_back(needed_by({Kind::torus, Kind::mesh}, dims_key()));
  table.push_back(
      needed_by({Kind::fully_connected, Kind::single_switch, Kind::data_center},
                count_key("nodes", 2, "accelerators of the network", &TopologyConfig::nodes)));
  table.push_back(needed_by({Kind::dgx2, Kind::fat_tree, Kind::bigraph, Kind::dragonfly},
                            count_key("nodes_per_switch", 1, "accelerators of one switch",
                                      &TopologyConfig::nodes_per_switch)));
  table.push_back(needed_by(
      {Kind::fat_tree, Kind::bigraph},
      count_key("switches", 2, "switches with accelerators; bigraph: of both sides together",
                &TopologyConfig::switches)));
  table.push_back(needed_by(
      {Kind::fat_tree},
      count_key("spines", 1, "switches above them, each linked to all", &TopologyConfig::spines)));
  table.push_back(needed_by({Kind::dragonfly}, count_key("group_size", 1, "switches of one group",
                                                         &TopologyConfig::group_size)));
  table.push_back(needed_by({Kind::dragonfly}, count_key("groups", 2, "each linked to each other",
                                                         &TopologyConfig::groups)));
  add_cluster_keys(table);
  add_center_keys(table);
  table.push_back(needed_by({Kind::file, Kind::anynet, Kind::astra_network}, graph_file_key()));
}

const char* size_key_of(TopologyKind kind) {
  switch (kind) {
    case Kind::torus:
    case Kind::mesh:
      return "system.topology.dims";
    case Kind::fully_connected:
    case Kind::single_switch:
    case Kind::data_center:
      return "system.topology.nodes";
    case Kind::dgx2:
      return "system.topology.nodes_per_switch";
    case Kind::fat_tree:
    case Kind::bigraph:
      return "system.topology.switches";
    case Kind::dragonfly:
      return "system.topology.groups";
    case Kind::gpu_cluster:
      return "system.topology.gpus_per_server";
    case Kind::file:
    case Kind::anynet:
    case Kind::astra_network:
      return "system.topology.file";
    case Kind::dimensions:
      return "system.dimensions.size";
  }
  return kTypeKey;
}

}  // namespace espalier
