// What is wrong with how the hosts of a training job are coordinated.
#pragma once

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Nothing where the point has no coordination. `topology`: nullptr where it could not be built.
void check_coordination(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                        Diagnostics& diagnostics);

}  // namespace espalier
