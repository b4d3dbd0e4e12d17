// Servers of GPUs. Nodes are numbered server by server. Every server has a switch with a link to
// each of its GPUs. If there are several servers, groups of GPUs share network interface cards
// (NICs); a NIC has a link to every GPU of its group and a link to the fabric switch.
//
// Switch vertices: the servers' switches, the NICs (server by server, group by group), the fabric.
// Names: GPUs n_<i>, servers' switches nvs_<i>, NICs nic_<i>, fabric ib. A GPU's ports lead to its
// server's switch, then to its group's NICs; a NIC's ports lead to its GPUs, then to the fabric.
#include <fmt/format.h>

#include <algorithm>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

struct Cluster {
  NetworkSpec spec;
  std::size_t servers = spec.number("servers");
  std::size_t server_gpus = spec.number("gpus_per_server");
  std::size_t group_gpus = spec.number("gpus_per_nic_group");
  std::size_t group_nics = spec.number("nics_per_group");
  std::size_t gpus = servers * server_gpus;
  std::size_t nics = servers == 1 ? 0 : gpus / group_gpus * group_nics;

  [[nodiscard]] NodeId nic(std::size_t index) const { return NodeId(gpus + servers + index); }
  [[nodiscard]] NodeId fabric() const { return nic(nics); }
  // The NIC of a GPU within its group.
  [[nodiscard]] std::size_t nic_of(NodeId gpu, std::uint32_t channel) const {
    return (gpu.index() % group_gpus + channel) % group_nics;
  }
};

std::optional<NetworkProblem> problem_of_cluster(const NetworkSpec& spec) {
  const Cluster cluster{spec};
  if (cluster.server_gpus % cluster.group_gpus == 0) return std::nullopt;
  return NetworkProblem{
      fmt::format("system.topology.gpus_per_server: {} is not a multiple of the {} GPUs that share "
                  "NICs (system.topology.gpus_per_nic_group)",
                  cluster.server_gpus, cluster.group_gpus),
      fmt::format("for example {}",
                  (cluster.server_gpus / cluster.group_gpus + 1) * cluster.group_gpus)};
}

NetworkSize size_of_cluster(const NetworkSpec& spec) {
  const Cluster cluster{spec};
  NetworkSize size{fmt::format("gpu_cluster {}x{}", cluster.servers, cluster.server_gpus),
                   cluster.gpus, 2 * cluster.gpus, cluster.server_gpus};
  if (cluster.servers == 1) return size;
  size.links += 2 * (cluster.gpus * cluster.group_nics + cluster.nics);
  size.most_ports = std::max<std::uint64_t>(  // of the fabric, a NIC, a GPU
      {size.most_ports, cluster.nics, cluster.group_gpus + 1, cluster.group_nics + 1});
  return size;
}

// Within a server through its switch; to another server through a NIC of the source's group, the
// fabric and a NIC of the destination's group. A GPU uses NIC number (its place in the group +
// channel) mod nics_per_group of its group.
std::vector<LinkId> cluster_route(const Cluster& cluster, const Topology& topology, NodeId from,
                                  NodeId to, std::uint32_t channel) {
  Walk walk(topology, from);
  if (from.index() / cluster.server_gpus == to.index() / cluster.server_gpus) {
    walk.leave_by(0);
    walk.leave_by(to.index() % cluster.server_gpus);
    return walk.links();
  }
  walk.leave_by(1 + cluster.nic_of(from, channel));
  walk.leave_by(cluster.group_gpus);  // the port behind the NIC's GPUs
  walk.leave_by(to.index() / cluster.group_gpus * cluster.group_nics + cluster.nic_of(to, channel));
  walk.leave_by(to.index() % cluster.group_gpus);
  return walk.links();
}

// Paths turn at the fabric, so that GPUs of one server are linked by the server's switch. In the
// picture, the GPUs stand in a row, the switches of their servers below, NICs and fabric above.
NetworkShape shape_of_cluster(const Cluster& cluster, std::size_t vertices) {
  NetworkShape shape;
  shape.near_by_number = true;
  shape.route = [cluster](const Topology& topology, NodeId from, NodeId to, std::uint32_t channel) {
    return cluster_route(cluster, topology, from, to, channel);
  };
  shape.levels.assign(vertices, 1);
  std::fill_n(shape.levels.begin(), cluster.gpus, 2);
  if (cluster.servers > 1) {
    shape.levels[cluster.fabric().index()] = 0;
    shape.picture = {{{cluster.fabric()}}, {vertices_from(cluster.nic(0).index(), cluster.nics)}};
  }
  shape.picture.push_back({vertices_from(0, cluster.gpus)});
  shape.picture.push_back({vertices_from(cluster.gpus, cluster.servers)});
  return shape;
}

Topology build_cluster(const NetworkSpec& spec, LinkSpec link) {
  const Cluster cluster{spec};
  std::string name = size_of_cluster(spec).name;
  if (cluster.servers > 1) name += fmt::format("x{}", cluster.nics / cluster.servers);
  Topology topology(name);
  for (std::size_t n = 0; n < cluster.gpus; ++n) topology.add_node(fmt::format("n_{}", n));
  for (std::size_t s = 0; s < cluster.servers; ++s) topology.add_switch(fmt::format("nvs_{}", s));
  for (std::size_t n = 0; n < cluster.nics; ++n) topology.add_switch(fmt::format("nic_{}", n));
  for (std::size_t n = 0; n < cluster.gpus; ++n) {
    add_cable(topology, NodeId(n), NodeId(cluster.gpus + n / cluster.server_gpus), link);
  }
  if (cluster.servers > 1) topology.add_switch("ib");
  const LinkSpec nic_link = spec.link("nic_link", link);
  for (std::size_t n = 0; n < cluster.nics; ++n) {
    const std::size_t first = n / cluster.group_nics * cluster.group_gpus;
    for (std::size_t gpu = first; gpu < first + cluster.group_gpus; ++gpu) {
      add_cable(topology, NodeId(gpu), cluster.nic(n), nic_link);
    }
    add_cable(topology, cluster.nic(n), cluster.fabric(), nic_link);
  }
  topology.set_shape(shape_of_cluster(cluster, topology.num_vertices()));
  return topology;
}

ServerShape server_of_cluster(const NetworkSpec& spec) {
  const std::uint32_t gpus = spec.count("gpus_per_server");
  return {gpus, gpus / spec.count("gpus_per_nic_group") * spec.count("nics_per_group")};
}

std::vector<FamilyKey> keys_of_cluster() {
  using Kind = FamilyKey::Kind;
  const char* const nic = "between GPU and NIC and between NIC and fabric";
  return {required_count("servers", "number of servers; each has a switch between its GPUs"),
          required_count("gpus_per_server", "number of accelerators in a server"),
          {Kind::count, "gpus_per_nic_group",
           "number of neighbouring GPUs of a server that share NICs; a divisor of "
           "gpus_per_server"},
          {Kind::count, "nics_per_group",
           "number of NICs of a group; each NIC is linked to the group's GPUs and to the "
           "fabric; a single server has no NICs"},
          latency_key("nic_link", nic),
          bandwidth_key("nic_link", nic)};
}

}  // namespace

Family gpu_cluster_family() {
  Family row(
      9, "gpu_cluster",
      "servers, gpus_per_server; a switch in each, NICs (gpus_per_nic_group, nics_per_group, "
      "nic_link) between them",
      keys_of_cluster(), "system.topology.gpus_per_server", size_of_cluster, build_cluster);
  row.problem = problem_of_cluster;
  row.server = server_of_cluster;
  row.small_hint = "for example 8";
  row.most_ports = 16384;  // of the switch between the servers
  return row;
}

}  // namespace espalier
