// Reads the files that run points name: messages, rank orders, layers, programs.
#pragma once

#include <vector>

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Each file is read once. `topology` is the topology of all points; nullptr if it could not be
// built, in which case files that depend on it are not read.
void read_point_files(std::vector<RunPoint>& points, const Topology* topology,
                      const GivenKeys& given, Diagnostics& diagnostics);

}  // namespace espalier
