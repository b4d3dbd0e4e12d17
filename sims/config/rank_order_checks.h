// Whether the algorithm of a point can follow its rank order, and bcube its base.
#pragma once

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// `topology`: nullptr where it could not be built.
void check_rank_order(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                      Diagnostics& diagnostics);

// Where that source of an order is written.
[[nodiscard]] Place place_of_rank_order(const GivenKeys& given, const std::string& source);

}  // namespace espalier
