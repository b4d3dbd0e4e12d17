#include "alg/plans/dimension_routes.h"

#include <stdexcept>

namespace espalier {

namespace {

// The coordinates to which `self` sends.
std::vector<std::uint32_t> peers_of(const PlannedDimension& dimension, std::uint32_t self) {
  std::vector<std::uint32_t> peers;
  if (dimension.algorithm == DimensionAlgorithm::halving_doubling) {
    for (std::uint32_t d = 1; d < dimension.size; d *= 2) peers.push_back(self ^ d);
    return peers;
  }
  for (std::uint32_t x = 0; x < dimension.size; ++x) {
    if (x != self) peers.push_back(x);
  }
  return peers;
}

}  // namespace

DimensionRoutes::DimensionRoutes(const Topology& topology,
                                 const std::vector<PlannedDimension>& dimensions)
    : routes_(topology) {
  const DimensionedShape& shape = *topology.dimensions();
  for (const PlannedDimension& dimension : dimensions) {
    const bool by_lane = dimension.algorithm == DimensionAlgorithm::ring;
    const bool to_switch = dimension.algorithm == DimensionAlgorithm::in_network;
    ranges_.push_back({per_node_, by_lane, to_switch});
    per_node_ += by_lane || to_switch ? 2 : dimension.size;
  }
  bundles_.resize(per_node_ * topology.num_nodes());
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId node(n);
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const DimensionSpec& spec = shape.dimensions[d];
      const std::uint32_t size = spec.size;
      const std::uint32_t self = shape.coordinate(node, d);
      const std::uint32_t parallel = spec.parallel_links();
      const std::uint32_t first_port = shape.first_port(d);
      RouteBundle* bundles = &bundles_[n * per_node_ + ranges_[d].first];
      if (ranges_[d].by_lane && spec.shape != DimensionShape::ring) {
        throw std::invalid_argument("the algorithm ring runs only on a dimension of shape ring");
      }
      if (ranges_[d].by_lane) {
        bundles[0] = bundle_to(topology, node, d, first_port, (self + 1) % size, parallel);
        bundles[1] =
            bundle_to(topology, node, d, first_port + parallel, (self + size - 1) % size, parallel);
        continue;
      }
      if (ranges_[d].to_switch != spec.one_switch) {
        throw std::invalid_argument(
            "the algorithm in_network needs a switch that reduces, and such a switch runs only "
            "in_network");
      }
      if (ranges_[d].to_switch) {
        const NodeId adder = topology.link(topology.out_links(node)[first_port]).to;
        // In a folded system the switch has no other NPU.
        const std::uint32_t at_switch = topology.is_folded() ? 0 : self * parallel;
        bundles[0] = single_links(topology.out_links(node), first_port, parallel);
        bundles[1] = single_links(topology.out_links(adder), at_switch, parallel);
        continue;
      }
      for (const std::uint32_t peer : peers_of(dimensions[d], self)) {
        const std::uint32_t place = (peer + size - self) % size - 1;
        const std::uint32_t port =
            spec.shape == DimensionShape::switched ? first_port : first_port + place * parallel;
        bundles[peer] = bundle_to(topology, node, d, port, peer, parallel);
      }
    }
  }
}

RouteBundle DimensionRoutes::bundle_to(const Topology& topology, NodeId node, std::size_t dimension,
                                       std::uint32_t port, std::uint32_t peer,
                                       std::uint32_t count) {
  const DimensionedShape& shape = *topology.dimensions();
  // In a folded system the node represents all its peers.
  const bool folded = topology.is_folded();
  const NodeId to = folded ? node : shape.peer(node, dimension, peer);
  RouteBundle bundle;
  bundle.count = count;
  for (std::uint32_t s = 0; s < count; ++s) {
    const LinkId first = topology.out_links(node)[port + s];
    const NodeId reached = topology.link(first).to;
    RouteId route = RouteSet::single(first);
    if (reached != to) {
      // Through a switch, whose links are numbered by the coordinates of its group.
      route = routes_.add(topology, {first, topology.out_links(reached)[folded ? 0 : peer]});
    }
    if (s == 0) bundle.first = route;
    if (route.index() != bundle.first.index() + s ||
        topology.link(routes_.link(route, routes_.hops(route) - 1)).to != to) {
      throw std::logic_error("parallel links of a dimension do not have consecutive numbers");
    }
  }
  return bundle;
}

RouteBundle DimensionRoutes::single_links(const std::vector<LinkId>& links, std::uint32_t first,
                                          std::uint32_t count) {
  for (std::uint32_t s = 1; s < count; ++s) {
    if (links[first + s].index() != links[first].index() + s) {
      throw std::logic_error("parallel links of a dimension do not have consecutive numbers");
    }
  }
  return {RouteSet::single(links[first]), count};
}

std::vector<RouteId> DimensionRoutes::used() const {
  std::vector<bool> is_used(routes_.size(), false);
  for (const RouteBundle& bundle : bundles_) {
    for (std::uint32_t s = 0; s < bundle.count; ++s) is_used[bundle.first.index() + s] = true;
  }
  std::vector<RouteId> used;
  for (std::size_t r = 0; r < is_used.size(); ++r) {
    if (is_used[r]) used.emplace_back(r);
  }
  return used;
}

}  // namespace espalier
