// Rules between links and the router clock, for every link of a system.
#pragma once

#include <cstdint>

#include "hw/topology/link_timing.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Both of all links of a system without dimensions. `topology` is nullptr where it could not be
// built.
void check_links(const SystemConfig& system, const Topology* topology, const GivenKeys& given,
                 Diagnostics& diagnostics);

}  // namespace espalier
