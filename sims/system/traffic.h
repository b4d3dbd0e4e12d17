// Point-to-point messages, drawn at random or listed in a file.
#pragma once

#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/point/config.h"

namespace espalier {

// With pattern `file`, returns the listed messages. With other patterns, each node draws in every
// cycle whether a message becomes ready (probability: injection_rate / flits of a message), and the
// destination follows the pattern. Every node has a random stream of its own, derived from seed and
// node, so added nodes do not change the other streams. Messages of a node ascend in time. Routes
// are added to `routes`. Precondition: the pattern fits the topology (the configuration reader
// checks this).
[[nodiscard]] std::vector<Operation> generate_traffic(const Topology& topology,
                                                      const TrafficConfig& config,
                                                      std::uint64_t flits_per_message,
                                                      RouteSet& routes);

}  // namespace espalier
