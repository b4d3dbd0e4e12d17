// One point of a collective program from configuration to result: build, certify, simulate, verify.
#pragma once

#include "alg/program/program.h"
#include "alg/program/program_certifier.h"
#include "hw/topology/topology.h"
#include "sims/experiment/point_runner.h"
#include "sims/point/config.h"

namespace espalier {

// With the slots, contexts and chunk sizes of the point, and the paths its messages take through
// the network.
[[nodiscard]] ProgramCertificate certify_program_point(const Topology& topology,
                                                       const RunPoint& point,
                                                       const Program& program);

// Simulates, so: once per process.
[[nodiscard]] PointReport run_program(const Topology& topology, const RunPoint& point,
                                      const SimulationHooks& hooks, RunAccount* account);

}  // namespace espalier
