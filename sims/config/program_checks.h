// What is wrong with a collective program's place in a configuration.
#pragma once

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Its ranks, operation and sizes, and what a built-in one asks of them; nothing where the point has
// no program. `topology`: nullptr where it could not be built.
void check_program(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                   Diagnostics& diagnostics);

}  // namespace espalier
