// The simulation of a collective program, executed by the contexts of all NIs.
#pragma once

#include "alg/program/program.h"
#include "hw/topology/topology.h"
#include "sims/system/program_setup.h"
#include "sims/system/simulation.h"

namespace espalier {

struct RunPoint;

// Preconditions: the program has as many ranks as the topology has nodes, and is certified, or at
// least well-formed. Broadcast and reduce use `root`. Throws std::invalid_argument if the
// configuration cannot be built.
[[nodiscard]] SimulationOutcome simulate_program(const Topology& topology, const RunPoint& point,
                                                 const Program& program, std::uint32_t root,
                                                 const SimulationHooks& hooks);

}  // namespace espalier
