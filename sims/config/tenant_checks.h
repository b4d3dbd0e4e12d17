// What other tenants' traffic needs of a network.
#pragma once

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Precondition: point.tenants. `topology` nullptr: it could not be built.
void check_tenants(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                   Diagnostics& diagnostics);

}  // namespace espalier
