// What is wrong with how the hosts of a training job are coordinated.
#pragma once

#include "hw/topology.h"
#include "sims/config/config.h"
#include "sims/config/diagnostics.h"
#include "sims/config/given_keys.h"

namespace espalier {

// Nothing where the point has no coordination. `topology`: nullptr where it could not be built.
void check_coordination(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                        Diagnostics& diagnostics);

}  // namespace espalier
