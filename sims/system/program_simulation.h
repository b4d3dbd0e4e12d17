// A collective program, simulated: what the contexts of every NI make of it.
#pragma once

#include "alg/program/program.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/system/program_setup.h"
#include "sims/system/simulation.h"

namespace espalier {

// Preconditions: as many ranks as the topology has nodes; the program is certified, or at least not
// malformed. `root`: of broadcast and reduce. Throws std::invalid_argument where the configuration
// cannot be built.
[[nodiscard]] SimulationOutcome simulate_program(const Topology& topology, const RunPoint& point,
                                                 const Program& program, std::uint32_t root,
                                                 const SimulationHooks& hooks);

}  // namespace espalier
