// Multi-dimensional systems as ASTRA-sim's analytical network reads them:
//
//   topology: [Ring, FullyConnected, Switch]
//   npus_count: [4, 8, 8]
//   bandwidth: [200.0, 100.0, 50.0]   # of an NPU in the dimension, GB/s
//   latency: [50.0, 500.0, 500.0]     # of one hop, ns; a switch has two
//
// That tool takes a GB for 2^30 bytes, and so does this. The bandwidth is that of all links which
// leave an NPU: 2 on a ring, one to each peer where fully connected, 1 on a switch; each link's
// part is rounded to a whole number of bytes per router cycle, or no clock tick would suit all
// dimensions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/topology/link_timing.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct AstraNetwork {
  DimensionsConfig dimensions;  // shape, size, bandwidth, latency
  // Of their entries, by the name that system.dimensions has for them.
  std::map<std::string, std::vector<Place>> places;
};

[[nodiscard]] std::optional<AstraNetwork> parse_astra_network(const std::string& file_name,
                                                              const std::string& text,
                                                              const ClockSpec& clock,
                                                              Diagnostics& diagnostics);

}  // namespace espalier
