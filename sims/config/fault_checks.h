// Rules of the section `faults`: each names what the system has, makes it worse, and can act.
#pragma once

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// What no list can change. `topology` is nullptr where it could not be built.
void check_faults(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                  Diagnostics& diagnostics);

// Of every point: whether it has a lockstep down-counter that a skewed clock can slow down.
void check_skewed_steps(const RunPoint& point, const GivenKeys& given, Diagnostics& diagnostics);

}  // namespace espalier
