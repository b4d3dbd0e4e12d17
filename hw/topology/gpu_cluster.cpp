// Servers of GPUs: NVSwitch inside, NICs and a fabric of one switch between them.
#include <fmt/format.h>

#include <stdexcept>

#include "hw/topology/cables.h"
#include "hw/topology/topology.h"

namespace espalier {

namespace {

void check_shape(const ClusterShape& shape) {
  if (shape.servers == 0 || shape.gpus_per_server == 0 || shape.gpus_per_nic_group == 0 ||
      shape.nics_per_group == 0) {
    throw std::invalid_argument("a GPU cluster has servers, GPUs, groups and NICs");
  }
  if (shape.gpus_per_server % shape.gpus_per_nic_group != 0) {
    throw std::invalid_argument("a server's GPUs form groups of equal size");
  }
  const std::uint64_t gpus = std::uint64_t{shape.servers} * shape.gpus_per_server;
  if (gpus < 2) throw std::invalid_argument("a GPU cluster has at least 2 GPUs");
  const std::uint64_t groups = gpus / shape.gpus_per_nic_group;
  if (gpus > kMostVertices || groups * shape.nics_per_group > kMostVertices) {
    throw std::invalid_argument("a network has at most 2^31 vertices");
  }
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
