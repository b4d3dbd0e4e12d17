// Builders of switched networks and of the fully connected network.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

namespace {

using Kind = SwitchedShape::Kind;

void require(bool good, const char* what) {
  if (!good) throw std::invalid_argument(what);
}

// Makes nodes, leaves and spines, and links each node to its leaf. Links between switches are added
// later, so that the first ports of a leaf lead to its nodes.
Topology make_leaves(const std::string& name, const SwitchedShape& shape, std::uint32_t spines,
                     LinkSpec spec) {
  const std::uint64_t nodes = std::uint64_t{shape.nodes_per_switch} * shape.leaves;
  require(nodes + shape.leaves + spines <= kMostVertices, "a network has at most 2^31 vertices");
  Topology topology(name);
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n_{}", n));
  for (std::uint32_t s = 0; s < shape.leaves; ++s) topology.add_switch(fmt::format("sw_{}", s));
  for (std::uint32_t s = 0; s < spines; ++s) topology.add_switch(fmt::format("sp_{}", s));
  topology.set_switched(shape);
  for (std::size_t n = 0; n < nodes; ++n) {
    add_cable(topology, NodeId(n), topology.leaf_switch(shape.leaf_of(NodeId(n))), spec);
  }
  return topology;
}

}  // namespace

std::uint32_t SwitchedShape::gateway(std::uint32_t group, std::uint32_t other) const {
  const std::uint64_t offset = (std::uint64_t{other} + groups() - group - 1) % groups();
  return static_cast<std::uint32_t>(std::uint64_t{group} * group_size +
                                    offset * group_size / (groups() - 1));
}

Topology make_fully_connected(std::uint32_t nodes, LinkSpec spec) {
  require(nodes >= 2, "a fully connected network has at least 2 nodes");
  Topology topology(fmt::format("fully_connected {}", nodes));
  for (std::uint32_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n_{}", n));
  // Links are added port by port, so that an input port too has the same direction at every node.
  for (std::uint32_t port = 0; port + 1 < nodes; ++port) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const NodeId from(n);
      const NodeId to((std::size_t{n} + port + 1) % nodes);
      topology.add_link(from, to, spec, port_to(topology, to), port_to(topology, from));
    }
  }
  return topology;
}

Topology make_single_switch(std::uint32_t nodes, LinkSpec spec) {
  require(nodes >= 2, "a switch joins at least 2 nodes");
  const SwitchedShape shape{Kind::single_switch, nodes};
  return make_leaves(fmt::format("switch {}", nodes), shape, 0, spec);
}

Topology make_switch_pair(std::uint32_t nodes_per_switch, LinkSpec spec) {
  require(nodes_per_switch >= 1, "each switch of a pair has at least 1 node");
  const SwitchedShape shape{Kind::switch_pair, nodes_per_switch, 2, nodes_per_switch};
  Topology topology = make_leaves(fmt::format("dgx2 {}x2", nodes_per_switch), shape, 0, spec);
  for (std::uint32_t i = 0; i < nodes_per_switch; ++i) {
    add_cable(topology, topology.leaf_switch(0), topology.leaf_switch(1), spec,
              fmt::format("_{}", i));
  }
  return topology;
}

Topology make_fat_tree(std::uint32_t nodes_per_switch, std::uint32_t switches, std::uint32_t spines,
                       LinkSpec spec) {
  require(nodes_per_switch >= 1, "each leaf switch of a fat-tree has at least 1 node");
  require(switches >= 2, "a fat-tree has at least 2 leaf switches");
  require(spines >= 1, "a fat-tree has at least 1 spine switch");
  const SwitchedShape shape{Kind::fat_tree, nodes_per_switch, switches, spines};
  Topology topology = make_leaves(
      fmt::format("fat_tree {}x{}x{}", nodes_per_switch, switches, spines), shape, spines, spec);
  for (std::uint32_t leaf = 0; leaf < switches; ++leaf) {
    for (std::uint32_t spine = 0; spine < spines; ++spine) {
      add_cable(topology, topology.leaf_switch(leaf), topology.spine_switch(spine), spec);
    }
  }
  return topology;
}

Topology make_bigraph(std::uint32_t nodes_per_switch, std::uint32_t switches, LinkSpec spec) {
  require(nodes_per_switch >= 1, "each switch of a BiGraph has at least 1 node");
  require(switches >= 2 && switches % 2 == 0,
          "a BiGraph has an even number of switches: half on either side");
  const SwitchedShape shape{Kind::bigraph, nodes_per_switch, switches};
  Topology topology =
      make_leaves(fmt::format("bigraph {}x{}", nodes_per_switch, switches), shape, 0, spec);
  const std::uint32_t half = switches / 2;
  for (std::uint32_t upper = 0; upper < half; ++upper) {
    for (std::uint32_t lower = half; lower < switches; ++lower) {
      add_cable(topology, topology.leaf_switch(upper), topology.leaf_switch(lower), spec);
    }
  }
  return topology;
}

Topology make_dragonfly(std::uint32_t nodes_per_switch, std::uint32_t group_size,
                        std::uint32_t groups, LinkSpec spec) {
  require(nodes_per_switch >= 1, "each switch of a dragonfly has at least 1 node");
  require(group_size >= 1, "each group of a dragonfly has at least 1 switch");
  require(groups >= 2, "a dragonfly has at least 2 groups");
  require(std::uint64_t{group_size} * groups <= kMostVertices,
          "a network has at most 2^31 vertices");
  const SwitchedShape shape{Kind::dragonfly, nodes_per_switch, group_size * groups, 0, group_size};
  Topology topology = make_leaves(
      fmt::format("dragonfly {}x{}x{}", nodes_per_switch, group_size, groups), shape, 0, spec);
  std::vector<std::vector<std::uint32_t>> later(shape.leaves);  // peers with a higher number
  for (std::uint32_t s = 0; s < shape.leaves; ++s) {
    for (std::uint32_t peer = s + 1; peer < (shape.group_of(s) + 1) * group_size; ++peer) {
      later[s].push_back(peer);
    }
  }
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (std::uint32_t h = g + 1; h < groups; ++h) {
      later[shape.gateway(g, h)].push_back(shape.gateway(h, g));
    }
  }
  for (std::uint32_t s = 0; s < shape.leaves; ++s) {
    std::sort(later[s].begin(), later[s].end());
    for (const std::uint32_t peer : later[s]) {
      add_cable(topology, topology.leaf_switch(s), topology.leaf_switch(peer), spec);
    }
  }
  return topology;
}

namespace {

void check_shape(const ClusterShape& shape) {
  require(shape.servers != 0 && shape.gpus_per_server != 0 && shape.gpus_per_nic_group != 0 &&
              shape.nics_per_group != 0,
          "a GPU cluster needs at least one server, GPU, group and NIC");
  require(shape.gpus_per_server % shape.gpus_per_nic_group == 0,
          "a server's GPUs must form groups of equal size");
  const std::uint64_t gpus = std::uint64_t{shape.servers} * shape.gpus_per_server;
  require(gpus >= 2, "a GPU cluster has at least 2 GPUs");
  const std::uint64_t groups = gpus / shape.gpus_per_nic_group;
  require(gpus <= kMostVertices && groups * shape.nics_per_group <= kMostVertices,
          "a network has at most 2^31 vertices");
}

std::string name_of(const ClusterShape& shape) {
  if (shape.servers == 1) return fmt::format("gpu_cluster 1x{}", shape.gpus_per_server);
  return fmt::format("gpu_cluster {}x{}x{}", shape.servers, shape.gpus_per_server,
                     shape.nics() / shape.servers);
}

}  // namespace

Topology make_gpu_cluster(const ClusterShape& shape, LinkSpec server_link, LinkSpec nic_link) {
  check_shape(shape);
  Topology topology(name_of(shape));
  for (std::uint32_t n = 0; n < shape.nodes(); ++n) topology.add_node(fmt::format("n_{}", n));
  for (std::uint32_t s = 0; s < shape.servers; ++s) topology.add_switch(fmt::format("nvs_{}", s));
  for (std::uint32_t n = 0; n < shape.nics(); ++n) topology.add_switch(fmt::format("nic_{}", n));
  topology.set_cluster(shape);
  for (std::uint32_t n = 0; n < shape.nodes(); ++n) {
    const NodeId gpu(n);
    add_cable(topology, gpu, topology.server_switch(shape.server_of(gpu)), server_link);
  }
  if (shape.servers == 1) return topology;
  topology.add_switch("ib");
  for (std::uint32_t n = 0; n < shape.nics(); ++n) {
    const std::uint32_t group = n / shape.nics_per_group;
    for (std::uint32_t place = 0; place < shape.gpus_per_nic_group; ++place) {
      const NodeId gpu(std::size_t{group} * shape.gpus_per_nic_group + place);
      add_cable(topology, gpu, topology.nic(n), nic_link);
    }
    add_cable(topology, topology.nic(n), topology.fabric(), nic_link);
  }
  return topology;
}

}  // namespace espalier
