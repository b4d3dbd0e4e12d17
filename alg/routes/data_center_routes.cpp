#include "alg/routes/data_center_routes.h"

#include <cstddef>

#include "hw/hash.h"

namespace espalier {

namespace {

// A route that grows hop by hop.
class EcmpWalk {
 public:
  EcmpWalk(const Topology& topology, NodeId from, std::uint64_t flow)
      : topology_(topology), at_(from), flow_(flow) {}

  // Over one of the links to vertices that `leads` accepts. Precondition: there is one.
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
