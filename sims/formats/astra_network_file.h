// Multi-dimensional systems as ASTRA-sim's analytical network reads them:
//
//   topology: [Ring, FullyConnected, Switch]
//   npus_count: [4, 8, 8]
//   bandwidth: [200.0, 100.0, 50.0]   # of a link, GB/s
//   latency: [50.0, 500.0, 500.0]     # of one hop, ns; a switch has two
//
// As in ASTRA-sim, a GB is 2^30 bytes, and the bandwidth is a link's, in one direction: an NPU has
// 2 links on a ring, one to each peer in a fully connected dimension, 1 on a switch. Rates are
// rounded such that one clock tick suits all dimensions: by less than 0.05 %, or to whole bytes per
// router cycle if the bandwidths have no simple ratios.
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
