// Builder of a hierarchical data centre. A job occupies some of its hosts.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "hw/hash.h"
#include "hw/topology/topology.h"

namespace espalier {

namespace {

void check_slots(const DataCenterShape& shape) {
  if (shape.slots.size() < 2)
    throw std::invalid_argument("a data centre's job needs at least 2 nodes");
  std::vector<std::uint32_t> sorted = shape.slots;
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t slots = std::uint64_t{shape.racks()} * shape.hosts_per_rack;
  if (sorted.back() >= slots || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw std::invalid_argument("every node needs its own host slot");
  }
}

void check_shape(const DataCenterShape& shape) {
  if (shape.pods == 0 || shape.racks_per_pod == 0 || shape.hosts_per_rack == 0 ||
      shape.rack_uplinks == 0 || shape.aggregations_per_pod == 0 ||
      shape.aggregation_uplinks == 0 || shape.cores == 0) {
    throw std::invalid_argument(
        "a data centre needs at least one pod, rack, host, switch and uplink");
  }
  const std::uint64_t racks = std::uint64_t{shape.pods} * shape.racks_per_pod;
  if (racks * shape.hosts_per_rack > kMostVertices || racks * shape.rack_uplinks > kMostVertices) {
    throw std::invalid_argument("a network has at most 2^31 vertices");
  }
  if (shape.rack_uplinks % shape.aggregations_per_pod != 0) {
    throw std::invalid_argument(
        "a rack needs the same number of uplinks to each aggregation switch");
  }
  if (shape.pods > 1 &&
      shape.cores > std::uint64_t{shape.aggregations_per_pod} * shape.aggregation_uplinks) {
    throw std::invalid_argument("every core switch must be linked to every pod");
  }
  check_slots(shape);
}

void add_vertices(Topology& topology, const DataCenterShape& shape) {
  for (std::size_t n = 0; n < shape.slots.size(); ++n) topology.add_node(fmt::format("n_{}", n));
  for (std::uint32_t r = 0; r < shape.racks(); ++r) topology.add_switch(fmt::format("tor_{}", r));
  for (std::uint32_t a = 0; a < shape.aggregations(); ++a) {
    topology.add_switch(
        fmt::format("agg_{}_{}", a / shape.aggregations_per_pod, a % shape.aggregations_per_pod));
  }
  for (std::uint32_t c = 0; shape.pods > 1 && c < shape.cores; ++c) {
    topology.add_switch(fmt::format("core_{}", c));
  }
}

// Suffix of the k-th parallel link between two switches.
std::string suffix(std::uint32_t k, std::uint32_t parallel) {
  return parallel == 1 ? "" : fmt::format("_{}", k);
}

void add_aggregation_cables(Topology& topology, const DataCenterShape& shape, LinkSpec link) {
  const std::uint32_t parallel = shape.rack_uplinks / shape.aggregations_per_pod;
  for (std::uint32_t rack = 0; rack < shape.racks(); ++rack) {
    for (std::uint32_t k = 0; k < shape.rack_uplinks; ++k) {
      add_cable(topology, topology.tor_switch(rack),
                topology.aggregation_switch(shape.pod_of(rack), k % shape.aggregations_per_pod),
                link, suffix(k / shape.aggregations_per_pod, parallel));
    }
  }
}

void add_core_cables(Topology& topology, const DataCenterShape& shape, LinkSpec link) {
  for (std::uint32_t pod = 0; pod < shape.pods; ++pod) {
    for (std::uint32_t a = 0; a < shape.aggregations_per_pod; ++a) {
      for (std::uint32_t k = 0; k < shape.aggregation_uplinks; ++k) {
        const std::uint32_t core = (a * shape.aggregation_uplinks + k) % shape.cores;
        const bool parallel = shape.aggregation_uplinks > shape.cores;
        add_cable(topology, topology.aggregation_switch(pod, a), topology.core_switch(core), link,
                  suffix(k / shape.cores, parallel ? 2 : 1));
      }
    }
  }
}

}  // namespace

Oversubscription oversubscription(const DataCenterShape& shape, const DataCenterLinks& links) {
  const auto ratio = [](double count_in, LinkSpec in, double count_out, LinkSpec out) {
    return count_in * static_cast<double>(in.bytes_per_second) /
           (count_out * static_cast<double>(out.bytes_per_second));
  };
  Oversubscription found;
  found.rack = ratio(shape.hosts_per_rack, links.rack, shape.rack_uplinks, links.aggregation);
  if (shape.pods > 1) {
    found.aggregation = ratio(
        static_cast<double>(shape.racks_per_pod) * shape.rack_uplinks, links.aggregation,
        static_cast<double>(shape.aggregations_per_pod) * shape.aggregation_uplinks, links.core);
  }
  return found;
}

std::vector<std::uint32_t> place_nodes(Placement placement, std::uint32_t nodes,
                                       std::uint32_t racks, std::uint32_t hosts_per_rack,
                                       std::uint64_t seed) {
  const std::uint64_t slots = std::uint64_t{racks} * hosts_per_rack;
  if (nodes > slots) {
    throw std::invalid_argument(fmt::format("{} nodes do not fit on {} hosts", nodes, slots));
  }
  std::vector<std::uint32_t> of_node(placement == Placement::random ? slots : nodes);
  std::iota(of_node.begin(), of_node.end(), 0U);
  if (placement == Placement::spread) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      of_node[n] = n % racks * hosts_per_rack + n / racks;
    }
  } else if (placement == Placement::random) {
    // The first `nodes` elements of a random permutation (Fisher and Yates).
    for (std::uint32_t n = 0; n < nodes; ++n) {
      std::swap(of_node[n], of_node[n + mix(seed, n) % (slots - n)]);
    }
    of_node.resize(nodes);
  }
  return of_node;
}

Topology make_data_center(const DataCenterShape& shape, const DataCenterLinks& links) {
  check_shape(shape);
  Topology topology(
      fmt::format("data_center {}x{}x{}", shape.pods, shape.racks_per_pod, shape.hosts_per_rack));
  add_vertices(topology, shape);
  topology.set_data_center(shape);
  for (std::size_t n = 0; n < shape.slots.size(); ++n) {
    add_cable(topology, NodeId(n), topology.tor_switch(shape.rack_of(NodeId(n))), links.rack);
  }
  add_aggregation_cables(topology, shape, links.aggregation);
  if (shape.pods > 1) add_core_cables(topology, shape, links.core);
  return topology;
}

}  // namespace espalier
