// Multi-dimensional systems as ASTRA-sim's analytical network reads them:
//
//   topology: [Ring, FullyConnected, Switch]
//   npus_count: [4, 8, 8]
//   bandwidth: [200.0, 100.0, 50.0]   # of an NPU in the dimension, GB/s
//   latency: [50.0, 500.0, 500.0]     # of one hop, ns; a switch has two
//
// As in ASTRA-sim, a GB is 2^30 bytes. The bandwidth is the sum over the links that leave an NPU: 2
// on a ring, one to each peer in a fully connected dimension, 1 on a switch. Each link's part is
// rounded to a whole number of bytes per router cycle, so that one clock tick suits all dimensions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/topology/link_timing.h"
#include "sims/point/topology_config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct AstraNetwork {
  DimensionsConfig dimensions;  // shape, size, bandwidth, latency
  // Places of the entries, by the name of the key in system.dimensions.
  std::map<std::string, std::vector<Place>> places;
};

[[nodiscard]] std::optional<AstraNetwork> parse_astra_network(const std::string& file_name,
                                                              const std::string& text,
                                                              const ClockSpec& clock,
                                                              Diagnostics& diagnostics);

}  // namespace espalier
