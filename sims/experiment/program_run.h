// A collective program on a point's network and NIs: its certificate.
#pragma once

#include "alg/program/program.h"
#include "alg/program/program_certifier.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier {

// The certificate for the point's slots, contexts and chunk sizes, and for the paths that its
// messages take through the network.
[[nodiscard]] ProgramCertificate certify_program_point(const Topology& topology,
                                                       const RunPoint& point,
                                                       const Program& program);

}  // namespace espalier
