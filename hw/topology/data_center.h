// The shape of a hierarchical data centre: racks of hosts behind top-of-rack (ToR) switches, pods
// of racks behind aggregation switches, core switches between pods.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "hw/link_spec.h"

namespace espalier {

// How a job's nodes (virtual machines) are put on host slots. Slots are counted rack by rack.
enum class Placement : std::uint8_t {
  packed,  // node i in slot i: rack after rack is filled
  spread,  // node i in rack i mod racks
  random   // any free slot, as in a provider's list of addresses
};

// Kept beside the graph for routes that need its structure. Slots without a node belong to other
// tenants and are no part of the network. Switch vertices: ToRs rack by rack, aggregation switches
// pod by pod, cores; a single pod has no cores.
struct DataCenterShape {
  std::uint32_t pods = 1;
  std::uint32_t racks_per_pod = 1;
  std::uint32_t hosts_per_rack = 1;
  // Uplink k of a ToR leads to aggregation switch k mod aggregations_per_pod of its pod.
  std::uint32_t rack_uplinks = 1;  // a multiple of aggregations_per_pod
  std::uint32_t aggregations_per_pod = 1;
  // Uplink k of a pod's aggregation switch a leads to core (a aggregation_uplinks + k) mod cores.
  std::uint32_t aggregation_uplinks = 1;
  std::uint32_t cores = 1;           // at most a pod's uplinks
  std::uint64_t ecmp_seed = 0;       // of the choice among equal paths
  std::vector<std::uint32_t> slots;  // by node, all different

  [[nodiscard]] std::uint32_t racks() const { return pods * racks_per_pod; }
  [[nodiscard]] std::uint32_t aggregations() const { return pods * aggregations_per_pod; }
  [[nodiscard]] std::uint32_t rack_of(NodeId node) const {
    return slots[node.index()] / hosts_per_rack;
  }
  [[nodiscard]] std::uint32_t pod_of(std::uint32_t rack) const { return rack / racks_per_pod; }
};

// Host to ToR, ToR to aggregation switch, aggregation switch to core.
struct DataCenterLinks {
  LinkSpec rack;
  LinkSpec aggregation;
  LinkSpec core;
};

// What the links into a level could bring, over what those out of it carry: 4 is "4 to 1". 0 where
// there is no such level.
struct Oversubscription {
  double rack = 0;         // all of a rack's hosts over its uplinks
  double aggregation = 0;  // all of a pod's racks over the pod's uplinks
};
[[nodiscard]] Oversubscription oversubscription(const DataCenterShape& shape,
                                                const DataCenterLinks& links);

// Slots of `nodes` nodes in a data centre of `racks` x `hosts_per_rack`; `seed` of
// Placement::random. Throws std::invalid_argument where there are fewer slots than nodes.
[[nodiscard]] std::vector<std::uint32_t> place_nodes(Placement placement, std::uint32_t nodes,
                                                     std::uint32_t racks,
                                                     std::uint32_t hosts_per_rack,
                                                     std::uint64_t seed);

}  // namespace espalier
