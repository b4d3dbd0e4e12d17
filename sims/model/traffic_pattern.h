// Where the messages of a drawn traffic pattern go, apart from chance.
#pragma once

#include "hw/topology/topology.h"
#include "sims/point/traffic_config.h"

namespace espalier {

// The one destination of `from` in a pattern that is a permutation (neighbor, bit_complement,
// bit_reverse, shuffle, tornado, transpose): `from` itself if it sends no message. Of other
// patterns an invalid id. Precondition: the pattern fits the network.
[[nodiscard]] NodeId fixed_destination(TrafficPattern pattern, const Topology& topology,
                                       NodeId from);

}  // namespace espalier
