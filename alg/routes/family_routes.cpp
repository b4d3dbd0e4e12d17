// Routes of networks with switches, GPU clusters and data centres, as built in hw/topology.
#include <cstddef>
#include <cstdint>

#include "hw/hash.h"

#include "alg/routes/routing.h"

namespace espalier {

namespace {

// A route that grows hop by hop.
class Walk {
 public:
  Walk(const Topology& topology, NodeId from) : topology_(topology), at_(from) {}

  void leave_by(std::size_t port) {
    links_.push_back(topology_.out_links(at_)[port]);
    at_ = topology_.link(links_.back()).to;
  }
  void go_to(NodeId next) {
    if (next == at_) return;
    links_.push_back(topology_.link_between(at_, next));
    at_ = next;
  }
  [[nodiscard]] std::vector<LinkId> links() && { return std::move(links_); }

 private:
  const Topology& topology_;
  NodeId at_;
  std::vector<LinkId> links_;
};

void cross_bigraph(const SwitchedShape& shape, std::uint32_t source, std::uint32_t destination,
                   Walk& walk) {
  const std::uint32_t half = shape.leaves / 2;
  // A leaf's ports behind the ports to its nodes lead to the other side, in order of position.
  const auto hop_to = [&](std::uint32_t leaf) {
    walk.leave_by(std::size_t{shape.nodes_per_switch} + leaf % half);
  };
  if (shape.is_upper(source) == shape.is_upper(destination)) hop_to(source);
  hop_to(destination);
}

void cross_dragonfly(const Topology& topology, std::uint32_t source, std::uint32_t destination,
                     Walk& walk) {
  const SwitchedShape& shape = *topology.switched();
  const std::uint32_t group = shape.group_of(source);
  const std::uint32_t other = shape.group_of(destination);
  if (group != other) {
    walk.go_to(topology.leaf_switch(shape.gateway(group, other)));
    walk.go_to(topology.leaf_switch(shape.gateway(other, group)));
  }
  walk.go_to(topology.leaf_switch(destination));
}

void cross_switches(const Topology& topology, NodeId from, NodeId to, std::uint32_t channel,
                    Walk& walk) {
  const SwitchedShape& shape = *topology.switched();
  const std::uint32_t source = shape.leaf_of(from);
  const std::uint32_t destination = shape.leaf_of(to);
  if (source == destination) return;
  switch (shape.kind) {
    case SwitchedShape::Kind::single_switch:
      break;
    case SwitchedShape::Kind::switch_pair:
      walk.leave_by(std::size_t{shape.nodes_per_switch} +
                    (std::size_t{to.value()} + channel) % shape.spines);
      break;
    case SwitchedShape::Kind::fat_tree:
      walk.leave_by(std::size_t{shape.nodes_per_switch} +
                    (std::size_t{from.value()} + channel) % shape.spines);
      walk.leave_by(destination);
      break;
    case SwitchedShape::Kind::bigraph:
      cross_bigraph(shape, source, destination, walk);
      break;
    case SwitchedShape::Kind::dragonfly:
      cross_dragonfly(topology, source, destination, walk);
      break;
  }
}

}  // namespace

std::vector<LinkId> switched_route(const Topology& topology, NodeId from, NodeId to,
                                   std::uint32_t channel) {
  Walk walk(topology, from);
  walk.leave_by(0);
  cross_switches(topology, from, to, channel, walk);
  walk.leave_by(to.value() % topology.switched()->nodes_per_switch);
  return std::move(walk).links();
}

namespace {

// The NIC of a GPU within its group.
std::size_t nic_of(const ClusterShape& shape, NodeId gpu, std::uint32_t channel) {
  return (std::size_t{shape.place_in_group(gpu)} + channel) % shape.nics_per_group;
}

}  // namespace

std::vector<LinkId> cluster_route(const Topology& topology, NodeId from, NodeId to,
                                  std::uint32_t channel) {
  const ClusterShape& shape = *topology.cluster();
  Walk walk(topology, from);
  if (shape.server_of(from) == shape.server_of(to)) {
    walk.leave_by(0);
    walk.leave_by(to.value() % shape.gpus_per_server);
    return std::move(walk).links();
  }
  walk.leave_by(1 + nic_of(shape, from, channel));
  walk.leave_by(shape.gpus_per_nic_group);  // the port behind the NIC's GPUs
  walk.leave_by(std::size_t{shape.group_of(to)} * shape.nics_per_group +
                nic_of(shape, to, channel));
  walk.leave_by(shape.place_in_group(to));
  return std::move(walk).links();
}

namespace {

// A route that grows hop by hop.
class EcmpWalk {
 public:
  EcmpWalk(const Topology& topology, NodeId from, std::uint64_t flow)
      : topology_(topology), at_(from), flow_(flow) {}

  // Goes over one of the links to vertices that `leads` accepts. Precondition: there is one.
  template <class Leads>
  void go(Leads leads) {
    equal_.clear();
    for (const LinkId link : topology_.out_links(at_)) {
      if (leads(topology_.link(link).to)) equal_.push_back(link);
    }
    const std::uint64_t random = mix(flow_, links_.size());
    links_.push_back(equal_[equal_.size() == 1 ? 0 : random % equal_.size()]);
    at_ = topology_.link(links_.back()).to;
  }
  void go_to(NodeId vertex) {
    go([&](NodeId next) { return next == vertex; });
  }
  [[nodiscard]] std::vector<LinkId> links() && { return std::move(links_); }

 private:
  const Topology& topology_;
  NodeId at_;
  std::uint64_t flow_;
  std::vector<LinkId> links_;
  std::vector<LinkId> equal_;
};

std::uint32_t rack_of(const Topology& topology, NodeId end) {
  return topology.is_switch(end) ? static_cast<std::uint32_t>(end.index() - topology.num_nodes())
                                 : topology.data_center()->rack_of(end);
}

void cross_racks(const Topology& topology, std::uint32_t source, std::uint32_t destination,
                 EcmpWalk& walk) {
  const DataCenterShape& shape = *topology.data_center();
  const auto is_aggregation = [&](std::uint32_t pod) {
    const NodeId first = topology.aggregation_switch(pod, 0);
    return [first, &shape](NodeId v) {
      return first <= v && v.index() < first.index() + shape.aggregations_per_pod;
    };
  };
  const std::uint32_t pod = shape.pod_of(source);
  const std::uint32_t other = shape.pod_of(destination);
  walk.go(is_aggregation(pod));
  if (pod != other) {
    walk.go([&](NodeId v) { return topology.core_switch(0) <= v; });
    walk.go(is_aggregation(other));
  }
  walk.go_to(topology.tor_switch(destination));
}

}  // namespace

std::vector<LinkId> data_center_route(const Topology& topology, NodeId from, NodeId to,
                                      std::uint32_t channel) {
  const std::uint64_t seed = mix(topology.data_center()->ecmp_seed, channel);
  EcmpWalk walk(topology, from, mix(mix(seed, from.value()), to.value()));
  const std::uint32_t source = rack_of(topology, from);
  const std::uint32_t destination = rack_of(topology, to);
  if (!topology.is_switch(from)) walk.go_to(topology.tor_switch(source));
  if (source != destination) cross_racks(topology, source, destination, walk);
  if (!topology.is_switch(to)) walk.go_to(to);
  return std::move(walk).links();
}

}  // namespace espalier
