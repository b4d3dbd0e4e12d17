#include "alg/routes/cluster_routes.h"

#include <cstddef>

namespace espalier {

namespace {

// Of its group.
std::size_t nic_of(const ClusterShape& shape, NodeId gpu, std::uint32_t channel) {
  return (std::size_t{shape.place_in_group(gpu)} + channel) % shape.nics_per_group;
}

}  // namespace

std::vector<LinkId> cluster_route(const Topology& topology, NodeId from, NodeId to,
                                  std::uint32_t channel) {
  const ClusterShape& shape = *topology.cluster();
  std::vector<LinkId> route;
  NodeId at = from;
  const auto leave_by = [&](std::size_t port) {
    route.push_back(topology.out_links(at)[port]);
    at = topology.link(route.back()).to;
  };
  if (shape.server_of(from) == shape.server_of(to)) {
    leave_by(0);
    leave_by(to.value() % shape.gpus_per_server);
    return route;
  }
  leave_by(1 + nic_of(shape, from, channel));
  leave_by(shape.gpus_per_nic_group);  // behind the NIC's GPUs
  leave_by(std::size_t{shape.group_of(to)} * shape.nics_per_group + nic_of(shape, to, channel));
  leave_by(shape.place_in_group(to));
  return route;
}

}  // namespace espalier
